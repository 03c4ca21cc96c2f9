"""Measure the effort of rating a dialog with eight replies: keystrokes, clicks, pixels, and an estimate of seconds.

python -m benchmarks.worker_effort [--screenshots FOLDER]

A real browser works in the local marketplace's frame, in a window of 1366 x 768: by dragging, by clicking, and by keys
alone. We count every key and press, and how far the pointer travels and the page is scrolled, in pixels.

Seconds come from a model, not from people (docs/measured/worker-effort.md): Fitts's law for pointing and dragging
(MacKenzie, Sellen and Buxton 1991), 0.28 s a key and 1.35 s to decide on a reply (Card, Moran and Newell 1980), and
238 words read a minute (Brysbaert 2019), which are the same for every way to work.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import FrameLocator, Locator, Page, expect, sync_playwright

from benchmarks.serving_server import ROOT, gunicorn
from tests.browser.chromium import FLAGS, chromium_path

FRAME = "iframe[title='The task of this HIT']"
AREAS = ("good", "okay", "bad")
WINDOW = {"width": 1366, "height": 768}
KEY_SECONDS, PRESS_SECONDS, DECIDE_SECONDS, WORDS_A_MINUTE = 0.28, 0.2, 1.35, 238
SCROLL_SECONDS = 0.5  # for a turn of the wheel until the eye has found its place again

TURNS = [
    "You haven't said a word since you came in. What happened?",
    "My manager gave the project to Martin. After eight months of evenings and weekends, she told me in the lift.",
]
REPLIES = [
    "Eight months, and then she tells you in the lift. I'd be furious. Do you want to talk about it?",
    "That must be hard.",
    "I like lifts. When I was a child I used to ride in them all day long with my brother until somebody complained.",
    "Perhaps Martin needs the help. Have you thought of asking him what he thinks about it before you decide anything?",
    "Congratulations on the project!",
    "I'm sorry. You put so much of yourself into it, and that is a horrible way to hear that it goes to somebody else.",
    "What is a manager?",
    "Evenings and weekends are the best time to relax, so take a walk and you will feel better in no time at all.",
]


class Hands:
    """Does what a worker does, and counts it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.x, self.y = WINDOW["width"] / 2, WINDOW["height"] / 2
        page.mouse.move(self.x, self.y)
        self.keys = self.clicks = self.drags = 0
        self.pixels = self.scrolled = self.seconds = 0.0

    def press_key(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.keys += 1
        self.seconds += KEY_SECONDS

    def click(self, target: Locator) -> None:
        self._point_at(target, dragging=False)
        self.page.mouse.click(self.x, self.y)
        self.clicks += 1
        self.seconds += PRESS_SECONDS

    def drag(self, card: Locator, area: Locator) -> None:
        self._point_at(card, dragging=False)
        self.page.mouse.down()
        self.page.mouse.move(self.x + 8, self.y)
        self._point_at(area, dragging=True)
        expect(area).to_have_attribute("data-over", "")
        self.page.mouse.up()
        self.drags += 1
        self.seconds += PRESS_SECONDS

    def _point_at(self, target: Locator, dragging: bool) -> None:
        x, y, width = self._bring_into_sight(target)
        distance = math.hypot(x - self.x, y - self.y)
        difficulty = math.log2(distance / width + 1)
        # Milliseconds of MacKenzie, Sellen and Buxton; a hand that rests needs none.
        milliseconds = 135 + 249 * difficulty if dragging else max(0.0, -107 + 223 * difficulty)
        self.page.mouse.move(x, y, steps=4)
        self.x, self.y = x, y
        self.pixels += distance
        self.seconds += milliseconds / 1000

    def _bring_into_sight(self, target: Locator) -> tuple[float, float, float]:
        """Scroll until the target is on the screen, and return where to point at it and how wide it is there."""
        height = self.page.viewport_size["height"] if self.page.viewport_size else WINDOW["height"]
        for _ in range(20):
            box = target.bounding_box()
            assert box is not None
            middle = box["y"] + box["height"] / 2
            if 60 <= middle <= height - 20:
                return box["x"] + box["width"] / 2, middle, min(box["width"], box["height"])
            delta = min(300.0, middle - height / 2) if middle > height / 2 else max(-300.0, middle - height / 2)
            self.page.mouse.wheel(0, delta)
            self.page.wait_for_timeout(150)
            self.scrolled += abs(delta)
            self.seconds += SCROLL_SECONDS
        raise RuntimeError(f"{target} can't be scrolled to")

    def __str__(self) -> str:
        reading = sum(len(text.split()) for text in (*TURNS, *REPLIES)) / WORDS_A_MINUTE * 60
        seconds = self.seconds + reading + DECIDE_SECONDS * len(REPLIES)
        return (
            f"{self.keys:3} keys, {self.clicks:2} clicks, {self.drags} drags, {self.pixels:6,.0f} px by the pointer, "
            f"{self.scrolled:5,.0f} px scrolled, {seconds:3.0f} s ({self.seconds:.0f} s of them moving)"
        )


# --- Three ways through a dialog: from its opening to the next one ----------------------------------------------------


def by_drag(hands: Hands, work: FrameLocator) -> None:
    for place in range(len(REPLIES)):
        hands.drag(_card(work, place), work.locator(f"[data-zone='{AREAS[place % 3]}']"))
    hands.click(work.get_by_role("button", name="Next"))


def by_click(hands: Hands, work: FrameLocator) -> None:
    for place in range(len(REPLIES)):
        hands.click(_card(work, place).locator("label").nth(place % 3))
    hands.click(work.get_by_role("button", name="Next"))


def by_keys(hands: Hands, work: FrameLocator) -> None:
    for place in range(len(REPLIES)):
        hands.press_key(str(1 + place % 3))
    hands.press_key("Enter")


WAYS: dict[str, Callable[[Hands, FrameLocator], None]] = {"drag": by_drag, "click": by_click, "keys": by_keys}


def _card(work: FrameLocator, place: int) -> Locator:
    return work.locator(f"[data-card='{place}']")


# --- The site, and the pictures ---------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of the page in the usual windows")
    screenshots: Path | None = parser.parse_args().screenshots
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "ERROR", "MTURK_LOCAL_URL": ""}
        environment |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings"}
        _run("migrate", environment)
        command = [sys.executable, "-m", "gunicorn", "evalplatform.wsgi", "--workers", "2"]
        with gunicorn(command, environment) as (port, _), sync_playwright() as playwright:
            _run("publish", {**environment, "PUBLIC_URL": f"http://127.0.0.1:{port}"})
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
            page = browser.new_page(viewport={"width": WINDOW["width"], "height": WINDOW["height"]})
            _measure(page, _open_first_dialog(page, f"http://127.0.0.1:{port}/market/"))
            if screenshots is not None:
                _take_pictures(page, screenshots)
            browser.close()


def _measure(page: Page, work: FrameLocator) -> None:
    for position, (name, way) in enumerate(WAYS.items(), start=1):
        expect(work.get_by_role("heading", level=1)).to_contain_text(f"Conversation {position}")
        hands = Hands(page)
        way(hands, work)
        expect(work.get_by_role("heading", level=1)).not_to_contain_text(f"Conversation {position}")
        print(f"{name:5} {hands}", flush=True)


def _open_first_dialog(page: Page, market: str) -> FrameLocator:
    page.goto(market)
    page.get_by_role("button", name="Alice").click()
    page.get_by_role("button", name="Accept & Work").click()
    work = page.frame_locator(FRAME)
    heading = work.get_by_role("heading", level=1)
    heading.wait_for()
    while "Conversation" not in heading.inner_text():
        shown = heading.inner_text()
        work.get_by_role("button", name=re.compile("^(Next|I agree and begin)$")).click()
        expect(heading).not_to_have_text(shown)
    return work


# Width, height, zoom. At 200 % a window has half as many CSS pixels each way, and each is drawn with four.
WINDOWS = {
    "frame-1366x768": (1366, 768, 1),
    "1366x650": (1366, 650, 1),
    "phone-390": (390, 844, 1),
    "phone-320": (320, 640, 1),
    "zoom-200": (683, 384, 2),
}


def _take_pictures(page: Page, folder: Path) -> None:
    """Take pictures of the fourth dialog: as it opens, with some replies placed, and with all; light and dark."""
    folder.mkdir(parents=True, exist_ok=True)
    framed, alone = page.url, page.locator(FRAME).get_attribute("src") or ""
    for name, (width, height, zoom) in WINDOWS.items():
        context = page.context.browser.new_context(  # type: ignore[union-attr]
            viewport={"width": width, "height": height},
            device_scale_factor=zoom,
            has_touch=width < 600,
            storage_state=page.context.storage_state(),
        )
        view = context.new_page()
        view.goto(framed if name.startswith("frame") else alone)
        work: Page | FrameLocator = view.frame_locator(FRAME) if name.startswith("frame") else view
        expect(work.get_by_role("heading", level=1)).to_contain_text("Conversation")
        for stage in ("0 of 8", "5 of 8", "8 of 8"):
            for place in range(int(stage[0])):
                card = work.locator(f"[data-zone=''] [data-card='{place}']")
                if card.count():
                    card.focus()
                    view.keyboard.press(str(1 + place % 3))
            expect(work.locator(".saved")).to_have_text("Saved")
            for scheme in ("light", "dark"):
                view.emulate_media(color_scheme=scheme)
                view.screenshot(path=folder / f"{name}-{stage}-{scheme}.png", animations="disabled")
        for place in range(8):  # as it was, for the next window
            work.locator(f"[data-card='{place}']").focus()
            view.keyboard.press("Backspace")
        expect(work.locator(".saved")).to_have_text("Saved")
        context.close()
    print(f"Pictures are in {folder}")


def _run(what: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "benchmarks.worker_effort_site", what]
    subprocess.run(command, cwd=ROOT, env=environment, input=json.dumps([TURNS, REPLIES]), text=True, check=True)


if __name__ == "__main__":
    main()
