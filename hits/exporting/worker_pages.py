"""Writes the worker's pages of a study, from the preview to the last step, as files that open without a server.

In: a frozen study. Out: HTML by file name, with the page's own script and styles in it; with a browser, PNG too.
Guaranteed: nothing can be saved or sent from these pages. The HTML is the same for the same study and software; a
picture depends on the browser and its fonts, so that it is made only if somebody asks for it.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from evalplatform.errors import EvalPlatformError
from hits.crowds import crowd_of
from hits.models import Offering
from hits.serving import frozen_hit, page_context, step_pages

FOLDER = "worker_pages"
STEPS = (
    *("preview", "welcome", "instructions", "dialog"),
    *("checkpoint", "checkpoint-won", "checkpoint-missed", "finish"),
)
NO_CHECKPOINTS = """
There are no pages of a checkpoint: the study has none, or tells points after submission, so that a checkpoint looks
like every other dialog.
"""
NOTES = "pages.md"
BROWSERS = ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run --hide-scrollbars --virtual-time-budget=4000"
).split()
WIDTH = 1100
HEIGHTS = (2400, 9600)  # the second for longer pages; what stays empty is cut off
MARGIN = 24
SECONDS = 60


def worker_pages(offering: Offering, has_texts: bool, warning: str) -> dict[str, str]:
    """Return the pages by file name. Without the built frontend there are none, and the notes say so. `warning` stands
    above each page if the study's work is not from people."""
    script, style = (_asset(name) for name in ("worker.js", "worker.css"))
    if script is None or style is None:
        return {NOTES: notes_of_pages([], has_texts, warning, is_built=False)}
    hit = frozen_hit(offering.study.key, 0)
    pages = step_pages(hit, crowd_of(offering).words, has_texts)
    made = {}
    for number, (step, page) in enumerate(pages.items()):
        document = render_to_string("work/hit.html", page_context(hit.study.design, page))
        made[f"{number}-{step}.html"] = _marked(_stand_alone(document, script, style), warning)
    return {**made, NOTES: notes_of_pages(list(made), has_texts, warning)}


def is_page_file(name: str) -> bool:
    return bool(re.fullmatch(rf"{FOLDER}/\d+-({'|'.join(STEPS)})\.(html|png)", name))


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


def _marked(document: str, warning: str) -> str:
    """Write the warning above the page: who takes a picture of it takes the warning with it."""
    if not warning:
        return document
    box, words = "margin:0;max-width:none;padding:.25rem", "text-align:center;font:bold 1rem sans-serif"
    style = f"{box};{words};color:#000;background:#fda"
    return re.sub(r"(<body[^>]*>)", lambda found: f'{found[1]}<p style="{style}">{warning}</p>', document, count=1)


def notes_of_pages(names: Sequence[str], has_texts: bool, warning: str, is_built: bool = True) -> str:
    head = "# The worker's pages\n" + (f"\n**{warning}.**\n" if warning else "")
    if not is_built:
        return f"{head}\nThe pages are not here: the frontend is not built on the machine that exported.\n"
    no_checkpoints = "" if any("-checkpoint" in name for name in names) else NO_CHECKPOINTS
    listed = "\n".join(f"- `{name}`" for name in names)
    whose = "of the first HIT" if has_texts else "of the warm-up, because texts of dialogs were not asked for"
    return f"""{head}
Each file is the worker's own page at one step, and opens in any browser without a server. Nothing can be typed or sent.
The dialog is the one {whose}.

{listed}
{no_checkpoints}
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


def take_pictures(folder: Path, browser: str, warning: str) -> list[Path]:
    """Take a picture of each page in the folder, beside it, as long as the page is."""
    made = []
    for page in sorted(folder.glob("*.html")):
        picture = page.with_suffix(".png")
        for height in HEIGHTS:
            _take_picture(page, picture, browser, height)
            if _cut(picture, warning) or height == HEIGHTS[-1]:
                break
        made.append(picture)
    return made


def _take_picture(page: Path, picture: Path, browser: str, height: int) -> None:
    size = f"--window-size={WIDTH},{height}"
    command = [browser, *FLAGS, size, f"--screenshot={picture.resolve()}", page.resolve().as_uri()]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        raise EvalPlatformError(f"{browser} took no picture of {page.name}: {error}") from error
    if not picture.exists():
        raise EvalPlatformError(f"{browser} took no picture of {page.name}.")


def _cut(picture: Path, warning: str) -> bool:
    """Cut off what is empty below the page, and write the warning into the file's properties. Return False if the page
    reaches the picture's end and may go on below it."""
    from PIL import Image, ImageChops, PngImagePlugin  # matplotlib needs it, too

    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    corner = image.getpixel((0, image.height - 1))
    empty = Image.new("RGB", image.size, corner)
    box = ImageChops.difference(image, empty).getbbox()
    bottom = image.height if box is None else box[3]
    words = PngImagePlugin.PngInfo()
    if warning:
        words.add_text("Comment", warning)
    image.crop((0, 0, image.width, min(image.height, bottom + MARGIN))).save(picture, pnginfo=words, optimize=True)
    return bottom + MARGIN < image.height
