"""Studies in real Chromium: designed in seven steps, costed, built, published, looked at."""

import re

from django.contrib.auth.models import User
from playwright.sync_api import Dialog, Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from hits.batching import build_hits
from hits.designing import create_study, parse_design, read_study_file
from hits.models import PublishingRun, Study
from hits.tasks import publish_hits_of_run
from tests import snapshots
from tests.browser.conftest import CheckAccessibility
from tests.conftest import ROOT

DEMO = read_study_file(ROOT / "examples" / "demo.toml")


def test_the_form_gives_the_same_study_as_the_file(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    page.get_by_role("link", name="Studies", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Studies")
    check_accessibility(page)
    page.get_by_label("Name").fill("demo")
    page.get_by_role("button", name="Start").click()

    expect(page.get_by_text("to solve in this step")).to_be_visible()
    check_accessibility(page)
    for dataset in ("example-emotional", "example-empathetic", "example-subtitles"):
        page.get_by_label(dataset, exact=True).fill("20")
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Models")
    for generator in ("generic", "listener-large", "listener-small", "parrot"):
        page.get_by_label(generator).check()
    check_accessibility(page)
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Task")
    check_accessibility(page)
    page.get_by_role("button", name="Save and go on").click()
    expect(page.locator(".field-problem", has_text="name the datasets to take them from")).to_be_visible()
    page.get_by_label("example-empathetic").check()
    check_accessibility(page)
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Crowd")
    expect(page.get_by_label("Meant for")).to_have_value("link")
    expect(page.get_by_text("Amazon announced the end of Mechanical Turk for 30 September 2026")).to_be_visible()
    check_accessibility(page)
    page.get_by_label("Meant for").select_option("mturk")  # as a file that names no crowd
    expect(page.get_by_text("The study is meant for another crowd now")).to_be_visible()
    expect(page.get_by_label("Height of the frame, in pixels")).to_be_visible()  # which only this crowd has
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_text("is $1.60 an hour, below your minimum of $7.25")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Save and go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Analysis")
    check_accessibility(page)
    page.get_by_role("button", name="Save and show the study").click()

    expect(page.get_by_text("A draft.")).to_be_visible()
    check_accessibility(page)
    assert parse_design(Study.objects.get(name="demo").design) == parse_design(DEMO)
    page.get_by_role("button", name="Build the HITs and freeze").click()
    expect(page.get_by_text("6 HITs are built")).to_be_visible()
    built = Study.objects.get(name="demo")
    expect(page.get_by_text(built.manifest_hash)).to_be_visible()
    Study.objects.filter(pk=built.pk).update(name="demo-by-form")
    from_file = create_study(DEMO, User.objects.get())
    build_hits(from_file, order_secret=bytes.fromhex(built.order_secret))  # each draws its own otherwise
    from_file.refresh_from_db()
    assert from_file.manifest_hash == built.manifest_hash


def test_a_draft_keeps_what_is_typed_right_or_wrong_and_says_what_to_solve(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    create_study(DEMO, User.objects.get())
    page.goto("/studies/demo/edit/crowd/")

    page.get_by_label("Countries").fill("US, UK")
    page.get_by_label("Approved assignments at least").fill("many")
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_role("button", name=re.compile("Crowd 2 to solve")).click()

    expect(page.locator(".field-problem", has_text="'UK' is no country's code")).to_be_visible()
    expect(page.get_by_label("Approved assignments at least")).to_have_value("many")
    check_accessibility(page)
    page.goto("/studies/demo/")
    expect(page.get_by_text("2 things to solve before the HITs can be built")).to_be_visible()
    expect(page.get_by_role("button", name="Build")).to_have_count(0)


def test_a_tab_saves_what_is_typed_and_enter_goes_on(researcher_page: Page) -> None:
    page = researcher_page
    create_study(DEMO, User.objects.get())
    page.goto("/studies/demo/edit/data/")

    page.get_by_label("Seed").fill("77")
    page.get_by_role("button", name="Crowd", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Crowd")
    page.get_by_label("HITs a worker may do at most").fill("3")
    page.get_by_label("HITs a worker may do at most").press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Plan and cost")
    design = Study.objects.get().design
    assert (design["seed"], design["crowd"]["max_hits_per_worker"]) == (77, 3)


def test_the_analysis_is_designed_by_keyboard_on_a_phone_with_its_plan_beside(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    create_study(DEMO, User.objects.get())
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto("/studies/demo/edit/analysis/")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320

    page.get_by_label("Which models are compared").focus()
    page.keyboard.press("ArrowDown")  # one model with each of the others
    page.keyboard.press("Tab")
    page.keyboard.type("parrot")
    plan = page.locator("#summary")
    expect(plan.get_by_text("3 pairs of models is compared")).to_be_visible()
    page.get_by_label("Stop by itself when every pair is decided").focus()
    page.keyboard.press("Space")
    expect(plan.get_by_text("the study stops by itself as soon as each of these pairs is decided")).to_be_visible()
    page.get_by_label("HITs that are published at a time").fill("2")
    page.get_by_role("button", name="Save and show the study").press("Enter")

    expect(page.get_by_text("waves are published without asking you again; set pay.budget")).to_be_visible()
    page.goto("/studies/demo/edit/analysis/")
    expect(page.locator(".field-problem")).to_be_visible()
    expect(page.get_by_label("The model that the others are compared with")).to_have_value("parrot")
    check_accessibility(page)
    analysis = Study.objects.get().design["analysis"]
    assert (analysis["reference"], analysis["stop_when_decided"], analysis["wave_hits"]) == ("parrot", True, 2)


def test_the_worker_s_page_and_the_cost_follow_what_is_typed(researcher_page: Page) -> None:
    page = researcher_page
    create_study(DEMO, User.objects.get())
    page.goto("/studies/demo/edit/task/")

    page.get_by_label("Question above the replies").fill("Is it kind?")
    preview = page.frame_locator("iframe[title='The worker\\'s page before accepting']")
    expect(preview.get_by_text("Is it kind?")).to_be_visible()
    page.get_by_label("Instructions (Markdown)").fill("<script>alert(1)</script> **bold** [x](javascript:alert(1))")
    expect(preview.locator("strong", has_text="bold")).to_be_visible()
    assert preview.locator("main script").count() == 0
    assert preview.locator("a[href^=javascript]").count() == 0
    page.get_by_label("Areas in order, one a line").fill("kind: Kind\nunkind: Unkind")
    expect(preview.locator("h2", has_text="Unkind")).to_be_visible()

    page.goto("/studies/demo/edit/plan/")
    page.get_by_label("Reward for a HIT").fill("2.00")
    expect(page.get_by_text("is $8.00 an hour.")).to_be_visible()
    expect(page.get_by_text("$60.48").first).to_be_visible()
    assert Study.objects.get(name="demo").design["pay"]["reward"] == "0.40"


def test_the_fields_follow_the_way_of_asking_at_once(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    create_study(DEMO, User.objects.get())
    page.goto("/studies/demo/edit/task/")
    page.get_by_label("Question above the replies").fill("Is it kind?")

    page.get_by_label("How people are asked").focus()
    page.get_by_label("How people are asked").select_option("likert")

    expect(page.get_by_text("Criteria, one to seven")).to_be_visible()
    expect(page.get_by_label("How people are asked")).to_be_focused()
    expect(page.get_by_text("People are asked in another way now")).to_be_visible()
    expect(page.get_by_label("Areas in order, one a line")).to_have_count(0)
    expect(page.get_by_label("Question above the replies")).to_have_value("Is it kind?")
    preview = page.frame_locator("iframe[title='The worker\\'s page before accepting']")
    expect(preview.get_by_role("radio").first).to_be_attached()
    check_accessibility(page)
    page.get_by_role("button", name="Save and show the study").click()
    expect(page.get_by_text("A draft.")).to_be_visible()
    design = Study.objects.get().design
    assert (design["protocol"], design["task"]["question"]) == ("likert", "Is it kind?")
    expect(page.get_by_text("nothing can be changed once the HITs are built")).to_be_visible()


def test_the_planner_answers_both_ways_round(researcher_page: Page, check_accessibility: CheckAccessibility) -> None:
    page = researcher_page
    create_study(DEMO, User.objects.get())
    page.goto("/studies/demo/edit/plan/")

    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_text("With 60 dialogs and 4 raters each")).to_be_visible(timeout=60_000)
    check_accessibility(page)
    page.get_by_label("Difference that you want to find").fill("20")
    page.get_by_role("button", name="Simulate").click()

    expect(page.get_by_text(re.compile(r"With (?!60 )\d+ dialogs and 4 raters\s+each"))).to_be_visible(timeout=60_000)
    page.get_by_label("Difference that you want to find").fill("much")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_text("'much' is not a number of points.")).to_be_visible()


def test_leaving_the_form_with_unsaved_changes_warns_and_only_then(researcher_page: Page) -> None:
    page = researcher_page
    create_study(DEMO, User.objects.get())
    dialogs: list[str] = []

    def stay(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.goto("/studies/demo/edit/data/")
    page.get_by_label("example-emotional", exact=True).fill("10")
    page.get_by_role("link", name="Studies", exact=True).first.click(no_wait_after=True)
    expect(page.get_by_label("example-emotional", exact=True)).to_have_value("10")
    assert dialogs == ["beforeunload"]

    page.get_by_role("button", name="Save and show the study").click()
    expect(page.get_by_text("A draft.")).to_be_visible()
    page.goto("/studies/demo/edit/data/")
    page.get_by_role("link", name="Studies", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Studies")
    assert dialogs == ["beforeunload"]


def test_a_study_is_published_watched_and_stopped_from_its_page(
    researcher_page: Page, check_accessibility: CheckAccessibility, live_server: LiveServer, settings: Settings
) -> None:
    page = researcher_page
    settings.PUBLIC_URL = live_server.url
    snapshots.build(create_study(DEMO, User.objects.get()))
    page.goto("/studies/demo/")
    page.get_by_label("HITs in this wave").fill("2")
    expect(page.get_by_text("2 HITs, 8 assignments: at most $4.80")).to_be_visible()
    check_accessibility(page)

    page.get_by_role("button", name="Publish to the local marketplace").click()
    expect(page.get_by_text("Publishing: no background process runs.")).to_be_visible()
    check_accessibility(page)
    publish_hits_of_run(PublishingRun.objects.get().pk)
    expect(page.get_by_text("All 2 HITs are published.")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("2 HITs are off the market.")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("2 HITs are on offer again.")).to_be_visible()
    page.get_by_role("link", name="look at them as a worker does").click()

    expect(page).to_have_url(re.compile("/market/$"))


def test_a_frozen_study_shows_its_hits_and_can_be_copied(
    researcher_page: Page, check_accessibility: CheckAccessibility
) -> None:
    page = researcher_page
    snapshots.build(create_study(DEMO, User.objects.get()))
    page.goto("/studies/demo/edit/data/")

    expect(page).to_have_url(re.compile("/studies/demo/$"))
    check_accessibility(page)
    page.get_by_role("link", name="HIT 1", exact=True).click()
    expect(page.get_by_role("heading", name="Dialog 10")).to_be_visible()
    expect(page.get_by_text("checkpoint", exact=True)).to_have_count(3)
    check_accessibility(page)
    page.get_by_role("link", name="HIT 2 →").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("HIT 2")
    page.get_by_role("link", name="demo", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("demo")
    page.get_by_label("Name", exact=True).fill("second")
    page.get_by_role("button", name="Copy").click()

    expect(page.get_by_label("example-emotional", exact=True)).to_have_value("20")
    assert Study.objects.get(name="second").copied_from == Study.objects.get(name="demo")
