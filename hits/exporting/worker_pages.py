"""Writes the worker's pages of a study, from the preview to the last step, as files that open without a server.

In: a frozen study. Out: HTML by file name, with the page's own script and styles in it; with a browser, PNG too.
Guaranteed: nothing can be saved or sent from these pages. The HTML is the same for the same study and software; a
picture depends on the browser and its fonts, so that it is made only if somebody asks for it.
"""

import re
import shutil
import subprocess
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from evalplatform.errors import EvalPlatformError
from hits.crowds import crowd_of
from hits.models import Offering
from hits.serving import frozen_hit, page_context, step_pages

FOLDER = "worker_pages"
STEPS = ("preview", "welcome", "instructions", "dialog", "finish")
NOTES = "pages.md"
BROWSERS = ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run --hide-scrollbars --virtual-time-budget=4000"
).split()
SIZE = {"width": 1100, "height": 2200}
SECONDS = 60


def worker_pages(offering: Offering, has_texts: bool) -> dict[str, str]:
    """Return the pages by file name. Without the built frontend there are none, and the notes say so."""
    script, style = (_asset(name) for name in ("worker.js", "worker.css"))
    if script is None or style is None:
        return {NOTES: _notes([], has_texts, is_built=False)}
    hit = frozen_hit(offering.study.key, 0)
    pages = step_pages(hit, crowd_of(offering).words, has_texts)
    made = {}
    for number, step in enumerate(STEPS):
        document = render_to_string("work/hit.html", page_context(hit.study.design, pages[step]))
        made[f"{number}-{step}.html"] = _stand_alone(document, script, style)
    return {**made, NOTES: _notes(list(made), has_texts)}


def _asset(name: str) -> str | None:
    found = finders.find(name)
    return Path(found).read_text(encoding="utf-8") if isinstance(found, str) else None


def _stand_alone(document: str, script: str, style: str) -> str:
    """Put script and styles into the document itself: a browser loads no module from beside a file."""
    inline = script.replace("</script", r"<\/script")
    document = re.sub(r'\s*<link rel="icon"[^>]*>', "", document)
    document = re.sub(r'<link rel="stylesheet"[^>]*>', lambda _: f"<style>{style}</style>", document)
    return re.sub(
        r'<script type="module" src="[^"]*"></script>',
        lambda _: f'<script type="module">{inline}</script>',
        document,
    )


def _notes(names: list[str], has_texts: bool, is_built: bool = True) -> str:
    if not is_built:
        return (
            "# The worker's pages\n\nThe pages are not here: the frontend is not built on the machine that exported.\n"
        )
    listed = "\n".join(f"- `{name}`" for name in names)
    whose = "of the first HIT" if has_texts else "of the warm-up, because texts of dialogs were not asked for"
    return f"""# The worker's pages

Each file is the worker's own page at one step, and opens in any browser without a server. Nothing can be typed or sent.
The dialog is the one {whose}.

{listed}

Pictures (PNG) are made by `export_study --screenshots`, which needs Chromium. They depend on the browser and its fonts,
so that `check_bundle` compares their hashes only.
"""


# --- Pictures ---------------------------------------------------------------------------------------------------------


def find_browser() -> str:
    found = next((place for name in BROWSERS if (place := shutil.which(name))), None)
    if found is None:
        raise EvalPlatformError(
            f"Pictures of the worker's pages need a browser: install Chromium ({', '.join(BROWSERS)} are looked for), "
            "or leave --screenshots out."
        )
    return found


def take_pictures(folder: Path, browser: str) -> list[Path]:
    """Take a picture of each page in the folder, beside it."""
    made = []
    for page in sorted(folder.glob("*.html")):
        picture = page.with_suffix(".png")
        size = f"--window-size={SIZE['width']},{SIZE['height']}"
        command = [browser, *FLAGS, size, f"--screenshot={picture.resolve()}", page.resolve().as_uri()]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            raise EvalPlatformError(f"{browser} took no picture of {page.name}: {error}") from error
        if not picture.exists():
            raise EvalPlatformError(f"{browser} took no picture of {page.name}.")
        made.append(picture)
    return made
