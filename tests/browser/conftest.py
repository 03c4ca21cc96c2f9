"""A real Chromium, a logged-in researcher, axe, and pages of workers on the local marketplace."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django import Settings

from generation.importing import import_candidates, import_dialogs
from hits.designing import create_study
from localturk.clock import Clock
from localturk.models import TurkHit, WorkerAccount
from localturk.seeding import ensure_worker_accounts
from localturk.worker_frame import work_frame
from localturk.working import accept
from tests import snapshots
from tests.browser.chromium import FLAGS, chromium_path
from tests.browser.worker_moves import open_first_dialog
from tests.conftest import DEMO, ROOT, WriteFile

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"

LAPTOP: Any = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"}
PHONE: Any = {"viewport": {"width": 320, "height": 640}, "color_scheme": "dark"}

# What the look of a page decides, and what has to be named if only a phone shows it. The other rules are about the page
# itself, and say the same on any device: asking all of them twice took a fifth of the browser's time.
ON_A_PHONE = (
    "color-contrast link-in-text-block scrollable-region-focusable aria-hidden-focus nested-interactive "
    "button-name link-name label select-name summary-name"
).split()
ALL_RULES: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}  # no rule reads styles from their files
RULES_OF_A_PHONE: dict[str, Any] = {**ALL_RULES, "runOnly": {"type": "rule", "values": ON_A_PHONE}}

# A line of text has one rectangle, and a link or chip within it one of its own.
TORN_NAMES = """[...document.querySelectorAll("th")].filter((name) => {
  const range = document.createRange();
  range.selectNodeContents(name);
  return /^\\S{1,9}$/.test(name.innerText) && range.getClientRects().length > 1 + name.children.length;
}).map((name) => name.innerText)"""

WAIT_MS = 15_000  # playwright waits 5 s by itself; the other processes of the suite take time from a page
expect.set_options(timeout=WAIT_MS)

CheckAccessibility = Callable[[Page], None]
Publish = Callable[..., TurkHit]
OpenPage = Callable[[], Page]
WorkUrl = Callable[[TurkHit], str]
OpenDialog = Callable[..., Page]

SMALL = {
    "datasets": [{"name": "example-empathetic", "dialogs": 2}],
    "hits": {"dialogs": 2},
    "checkpoints": {"datasets": ["example-empathetic"], "per_hit": 1},
    "pay": {"bonus_points": 1},
    "screening": [],
}
WITHOUT_BONUS = {"hits": {"dialogs": 1}, "checkpoints": {"per_hit": 0}, "pay": {"bonus": "0"}}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=["phone-dark"] if os.environ.get("TEST_DATABASE_URL") else ["desktop-light"])
def context(request: pytest.FixtureRequest, browser: Browser, live_server_url: str) -> Iterator[BrowserContext]:
    """Fingers on PostgreSQL, a mouse on SQLite, or a device of the test's own."""
    devices = {"phone-dark": {**PHONE, "has_touch": True}, "desktop-light": LAPTOP}
    device = request.param if isinstance(request.param, dict) else devices[request.param]
    context = browser.new_context(base_url=live_server_url, **device)
    context.set_default_timeout(WAIT_MS)
    yield context
    context.close()


@pytest.fixture
def live_server_url(request: pytest.FixtureRequest, transactional_db: None) -> str:
    snapshots.put_back(snapshots.CORPUS)
    User.objects.create_user("rosa", password="the-usual-secret")
    url: str = request.getfixturevalue("live_server").url
    return url


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Fails the test when the browser complained: a script error, a blocked resource, a missing file."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    # The browser reports pages that are errors on purpose (a health page that says 503) as well.
    assert [text for text in complaints if "status of" not in text] == []


@pytest.fixture
def researcher_page(page: Page, live_server_url: str, client: Client) -> Page:
    """Logged in already: the form for it has a test of its own."""
    client.force_login(User.objects.get())
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server_url}]
    )
    page.goto("/")
    return page


@pytest.fixture
def check_accessibility() -> CheckAccessibility:
    """On a laptop in the light and on a phone in the dark: nothing serious by axe, nothing to be scrolled sideways,
    no short name on two lines. Not again on PostgreSQL, which pages do not look at."""

    def check(page: Page) -> None:
        if connection.vendor == "postgresql":
            return
        if not page.evaluate("'axe' in window"):
            page.evaluate(AXE.read_text())
        was_size, was_dark = page.viewport_size, page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        for device, rules in ((LAPTOP, ALL_RULES), (PHONE, RULES_OF_A_PHONE)):
            page.set_viewport_size(device["viewport"])
            page.emulate_media(color_scheme=device["color_scheme"], reduced_motion="reduce")
            violations = page.evaluate("async (rules) => (await axe.run(rules)).violations", rules)
            serious = [
                f"{found['id']}: {node['html'][:150]}"
                for found in violations
                if found["impact"] in ("serious", "critical")
                for node in found["nodes"]
            ]
            assert serious == [], device
            overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert overflow <= 0, f"{page.url} is {overflow} pixels too wide on {device}"
            assert page.evaluate(TORN_NAMES) == [], f"of {page.url} on {device}"
        page.set_viewport_size(was_size or LAPTOP["viewport"])
        page.emulate_media(color_scheme="dark" if was_dark else "light", reduced_motion="no-preference")

    return check


# --- Workers' pages --------------------------------------------------------------------------------------------------


@pytest.fixture
def publish(live_server_url: str, settings: Settings, end_offline: None) -> Publish:
    """A built study with its first HIT on the local marketplace."""
    settings.PUBLIC_URL = live_server_url
    cache.clear()  # the rate limits of assignments that had the same numbers in other tests
    ensure_worker_accounts()

    def make(**design: Any) -> TurkHit:
        study = create_study({**DEMO, **design})
        snapshots.build(study)
        call_command("publish_hits", study.name, hits=1, verbosity=0)
        return TurkHit.objects.get()

    return make


@pytest.fixture
def end_offline(context: BrowserContext) -> Iterator[None]:
    """A page that is closed saves once more, which must not meet the emptying of the database."""
    yield
    context.set_offline(True)


@pytest.fixture
def open_page(context: BrowserContext) -> Iterator[OpenPage]:
    """Pages that may lose their connection, but make no other complaint."""
    complaints: list[str] = []

    def note(words: str) -> None:
        if "net::ERR_" not in words and "status of" not in words:
            complaints.append(words)

    def open_new() -> Page:
        page = context.new_page()
        page.on("console", lambda message: note(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: note(str(error)))
        return page

    yield open_new
    assert complaints == []


@pytest.fixture
def work_url(live_server_url: str) -> WorkUrl:
    """Accepts a HIT, and tells the address of its page in the frame."""

    def accepted(hit: TurkHit) -> str:
        held = accept(WorkerAccount.objects.get(name="Alice"), hit, Clock().now())
        frame = work_frame(held, f"{live_server_url}/market")
        assert frame is not None
        return frame.url

    return accepted


# --- A HIT of two dialogs with eight replies each ---------------------------------------------------------------------

EIGHT = [
    "Eight months, and then she tells you in the lift. I'd be furious. Do you want to talk about it?",
    "That must be hard.",
    "I like lifts. " * 20,
    "Perhaps Martin needs the help. Have you thought of asking him what he thinks about it before you decide?",
    "Congratulations on the project!",
    "I'm sorry. You put so much of yourself into it, and that is a horrible way to hear of it. " * 3,
    "What is a manager?",
    "Evenings and weekends are the best time to relax, so take a walk and you will feel better.",
]
EIGHT_EACH = {
    "generators": [f"model {number}" for number in range(len(EIGHT))],
    "datasets": [{"name": "lift", "dialogs": 2}],
    "hits": {"dialogs": 2},
    "checkpoints": {"per_hit": 0},
    "pay": {"bonus": "0"},
    "screening": [],
}


@pytest.fixture
def offer_eight(publish: Publish, write_lines: WriteFile) -> Publish:
    def make(**design: Any) -> TurkHit:
        replies = dict(zip(EIGHT_EACH["generators"], EIGHT, strict=True))  # type: ignore[call-overload]
        turns = ["You haven't said a word since you came in.", "My manager gave the project to Martin, in the lift."]
        dialogs = [{"id": str(number), "context": [f"{number}: {turns[0]}", turns[1]]} for number in range(2)]
        lines = [{"id": str(number), "dataset": "lift", "candidates": replies} for number in range(2)]
        import_dialogs(write_lines(*dialogs, name="dialogs.jsonl"), "lift")
        import_candidates(write_lines(*lines, name="candidates.jsonl"))
        return publish(**{**EIGHT_EACH, **design})

    return make


@pytest.fixture
def open_dialog(page: Page, offer_eight: Publish, work_url: WorkUrl) -> OpenDialog:
    def opened(**design: Any) -> Page:
        return open_first_dialog(page, work_url(offer_eight(**design)))

    return opened
