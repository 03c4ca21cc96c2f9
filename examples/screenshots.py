"""Make every picture in docs/images from the present pages.

    python -m examples.screenshots [--out FOLDER] [--results FOLDER]

On a database of its own: the example corpus, the demo's study, a simulated crowd. Then a browser looks at the
researcher's pages and goes through a HIT as a worker. The curves of training are drawn by the
trainer (docs/training.md).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import django
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from evalplatform.environment import VARIABLES
from examples.demo import ROOT, background_process, demo_login, free_port, import_corpus, prepare_database
from examples.result_screens import SIZES, make_studies, shoot_results
from tests.browser.chromium import FLAGS, chromium_path

IMAGES = ROOT / "docs" / "images"
FRAME = "iframe[title='The task of this HIT']"
MARGIN = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=IMAGES)
    parser.add_argument("--results", type=Path, help="a folder for results pages of 3, 8 and 20 models; takes minutes")
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        address = _set_up(Path(folder))
        # Run a background process, because the pages warn if there is none.
        with background_process(), _web_server(address):
            dialog = _make_study()
            if options.results:
                make_studies()
            name, password = demo_login()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
                _shoot_researcher(browser, address, (name, password), dialog, out)
                if options.results:
                    _shoot_result_screens(browser, address, (name, password), options.results)
                _shoot_worker(browser, address, "Alice", out)
                _shoot_phone(browser, address, "Bruno", out)
                browser.close()
    print(f"The pictures are in {out}")


def _set_up(folder: Path) -> str:
    for name in VARIABLES:  # embedded parts only, whatever the shell is set up for
        os.environ.pop(name, None)
    address = f"http://127.0.0.1:{free_port(8100)}"
    os.environ |= {"VAR_DIR": str(folder), "LOG_LEVEL": "WARNING", "PUBLIC_URL": address}
    os.environ["DJANGO_SETTINGS_MODULE"] = "evalplatform.settings"
    django.setup()
    prepare_database()
    import_corpus()
    return address


def _make_study() -> str:
    """Make the study, and return the address of a dialog with replies by every model."""
    from django.core.management import call_command

    from generation.models import Dialog
    from hits.models import Study, offering_for
    from hits.tasks import compute_results_of_offering
    from localturk.seeding import ensure_worker_accounts

    call_command("create_study", ROOT / "examples" / "demo.toml")
    call_command("build_hits", "demo")
    call_command("publish_hits", "demo", verbosity=0)
    call_command("simulate_crowd", "demo", verbosity=0)
    call_command("sync_hits", "demo", verbosity=0)
    call_command("screen_study", "demo", verbosity=0)
    compute_results_of_offering(offering_for(Study.objects.get(), "local").pk)
    _offer_work()
    ensure_worker_accounts()
    return f"/dialogs/{Dialog.objects.get(external_id='empathetic-003').pk}/"


def _offer_work() -> None:
    """Publish the study once more, for pictures of the worker's page: the simulated crowd has done all the rest."""
    from django.core.management import call_command

    from hits.batching import build_hits
    from hits.designing import create_study

    design = tomllib.loads((ROOT / "examples" / "demo.toml").read_text(encoding="utf-8"))
    build_hits(create_study({**design, "name": "offered"}))
    call_command("publish_hits", "offered", verbosity=0)


@contextmanager
def _web_server(address: str) -> Iterator[None]:
    bind = address.removeprefix("http://")
    command = [sys.executable, "-m", "gunicorn", "--bind", bind, "--threads", "4", "--log-level", "warning"]
    server = subprocess.Popen([*command, "evalplatform.wsgi"], cwd=ROOT)
    try:
        for _ in range(100):
            try:
                urlopen(f"{address}/login/", timeout=5).close()  # noqa: S310  # our own
                break
            except OSError:
                time.sleep(0.2)
        yield
    finally:
        server.terminate()
        server.wait()


# --- The researcher's pages -------------------------------------------------------------------------------------------


def _shoot_researcher(browser: Browser, address: str, login: tuple[str, str], dialog: str, out: Path) -> None:
    page = browser.new_page(base_url=address, viewport={"width": 1100, "height": 982})
    _log_in(page, login)
    page.goto(dialog)
    page.screenshot(path=out / "dialog.png")

    page.set_viewport_size({"width": 960, "height": 900})
    page.goto("/studies/demo/monitor/")
    last = page.locator(".panel", has=page.get_by_role("heading", name="Time and pay"))
    expect(last).to_be_visible()
    _shoot_part(page, page.locator(".breadcrumbs"), last, out / "monitor.png")

    checked = page.locator("article", has_text="Check 1:").filter(has_text="passed")
    for number in range(20):  # not every worker has asked for a point and got it
        page.goto("/studies/demo/assignments/")
        page.get_by_role("link", name=re.compile("^HIT ")).nth(number).click()
        if checked.count():
            break
    checked.first.screenshot(path=out / "assignment.png")

    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/studies/demo/results/")
    expect(page.locator(".leaderboard")).to_be_visible()
    _shoot_part(page, page.locator("body > header"), page.locator("#answer"), out / "results.png")
    page.close()


def _log_in(page: Page, login: tuple[str, str]) -> None:
    page.goto("/login/")
    page.get_by_label("User name").fill(login[0])
    page.get_by_label("Password").fill(login[1])
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "/login/" not in url)


def _shoot_result_screens(browser: Browser, address: str, login: tuple[str, str], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(base_url=address)
    _log_in(page, login)
    names = [f"models-{models}-datasets-{datasets}" for models, datasets in SIZES]
    for path in shoot_results(browser, address, page.context.storage_state(), names, out):
        print(path)
    page.close()


def _shoot_part(page: Page, top: Locator, bottom: Locator, path: Path) -> None:
    """Take a picture of the page's whole width, from one element to the end of another."""
    begin, end = top.bounding_box(), bottom.bounding_box()
    if begin is None or end is None or page.viewport_size is None:
        sys.exit(f"What {path.name} is to show is not on the page.")
    start = max(0.0, begin["y"] - MARGIN)
    height = end["y"] + end["height"] + MARGIN - start
    clip = {"x": 0, "y": start, "width": page.viewport_size["width"], "height": height}
    page.screenshot(path=path, clip=clip, full_page=True, animations="disabled")  # type: ignore[arg-type]


# --- The worker's page ------------------------------------------------------------------------------------------------


def _shoot_worker(browser: Browser, address: str, name: str, out: Path) -> None:
    page = browser.new_page(base_url=address, viewport={"width": 1280, "height": 800})
    page.goto("/market/")
    page.get_by_role("button", name=re.compile(f"^{name}")).click()
    market = page.url
    page.get_by_role("link", name="Preview").first.click()
    page.goto(page.locator(FRAME).get_attribute("src") or "")
    expect(page.get_by_role("heading", level=1)).to_have_text("Preview")
    _shoot_top(page, out / "worker-preview.png")
    page.goto(market)
    _accept(page)
    page.get_by_role("button", name="I agree and begin").click()
    for place, area in enumerate(("1", "3")):
        _rate(page, place, area)
    page.get_by_role("button", name="Validate").click()
    page.get_by_role("heading", name="Warm-up").evaluate("heading => heading.scrollIntoView()")
    page.screenshot(path=out / "worker-instructions.png", animations="disabled")
    page.get_by_role("button", name="Next").click()
    _go_to_bonus(page)
    _rate(page, 0, "2")
    _shoot_top(page, out / "worker-dialog.png")
    _sort(page, "1")
    page.get_by_role("button", name="Bonus Validate").click()
    expect(page.get_by_text("The bonus point is yours if it stays like this.")).to_be_visible()
    _shoot_top(page, out / "worker-bonus.png")
    while page.get_by_role("heading", level=1).inner_text() != "Finish":
        _sort(page)
        _go_on(page)
    _shoot_top(page, out / "worker-finish.png")
    page.close()


def _shoot_phone(browser: Browser, address: str, name: str, out: Path) -> None:
    page = browser.new_page(
        base_url=address, viewport={"width": 320, "height": 640}, has_touch=True, color_scheme="dark"
    )
    page.goto("/market/")
    page.get_by_role("button", name=re.compile(f"^{name}")).click()
    _accept(page)
    page.get_by_role("button", name="I agree and begin").click()
    page.get_by_role("button", name="Next").click()
    _go_to_bonus(page)
    _rate(page, 0, "2")
    _shoot_top(page, out / "worker-dialog-phone-dark.png")
    page.close()


def _accept(page: Page) -> None:
    page.get_by_role("button", name="Accept & Work").first.click()
    page.goto(page.locator(FRAME).get_attribute("src") or "")
    expect(page.get_by_role("heading", level=1)).to_have_text("Welcome")


def _go_to_bonus(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text("Conversation")
    while page.get_by_role("region", name="Bonus").count() == 0:
        _sort(page)
        _go_on(page)


def _sort(page: Page, area: str = "") -> None:
    for place in range(page.locator("[data-card]").count()):
        if area or page.locator(f"[data-zone=''] [data-card='{place}']").count():
            _rate(page, place, area or str(1 + place % 3))


def _rate(page: Page, place: int, key: str) -> None:
    page.locator(f"[data-card='{place}']").focus()
    page.keyboard.press(key)


def _go_on(page: Page) -> None:
    heading = page.get_by_role("heading", level=1)
    shown = heading.inner_text()
    page.get_by_role("button", name="Next").click()
    expect(heading).not_to_have_text(shown)


def _shoot_top(page: Page, path: Path) -> None:
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(0, 0)
    if page.locator(".saved").count():
        expect(page.locator(".saved")).to_have_text("Saved")
    page.screenshot(path=path, animations="disabled")


if __name__ == "__main__":
    main()
