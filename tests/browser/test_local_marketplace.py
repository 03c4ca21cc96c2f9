"""The worker's side of the local marketplace in real Chromium, around a small page that only the tests serve."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.utils.html import format_html
from playwright.sync_api import FrameLocator, Page, expect
from pytest_django import Settings

from evalplatform.urls import urlpatterns as own_urlpatterns
from hits.crowds.mturk.crowd import connect
from hits.crowds.mturk.qualifications import crowd_requirements
from hits.crowds.mturk.question import external_question
from hits.crowds.mturk.types import HitTypeSpec, NewHit
from localturk.clock import Clock
from localturk.models import TurkAssignment, TurkHit, WorkerAccount
from localturk.seeding import ensure_worker_accounts
from localturk.working import accept, return_assignment, submit
from tests.browser.conftest import CheckAccessibility

TITLE = "Rate <b>replies</b> & dialogs"
FRAME = "iframe[title='The task of this HIT']"

PublishHit = Callable[..., TurkHit]


@login_not_required
def show_task(request: HttpRequest) -> HttpResponse:
    """What a requester's page does with MTurk's parameters, without any script."""
    shown = ("assignmentId", "hitId", "workerId", "turkSubmitTo", "study")
    given = ", ".join(f"{name}={request.GET.get(name, 'none')}" for name in shown)
    page = format_html(
        '<!doctype html><html lang="en"><title>Task</title><main><h1>Task</h1><p>{}</p>'
        '<form method="post" action="{}/mturk/externalSubmit"><input type="hidden" name="assignmentId" value="{}">'
        '<label><input type="checkbox" name="good" value="a" checked>a</label>'
        '<label><input type="checkbox" name="good" value="b" checked>b</label>'
        '<label>Feedback <input name="feedback" value="fine &amp; good"></label>'
        "<button {}>Submit</button></form></main></html>",
        given,
        request.GET.get("turkSubmitTo", ""),
        request.GET.get("assignmentId", ""),
        "" if "workerId" in request.GET else "disabled",
    )
    return HttpResponse(page, headers={"Content-Security-Policy": "frame-ancestors 'self'", "X-Frame-Options": ""})


urlpatterns = [*own_urlpatterns, path("task/", show_task)]


@pytest.fixture
def publish_hit(live_server_url: str, settings: Settings) -> PublishHit:
    settings.ROOT_URLCONF = "tests.browser.test_local_marketplace"
    ensure_worker_accounts()
    market = connect()

    def publish(
        min_approved: int = 0, assignments: int = 1, token: str = "one", guarded: str = "Accept", height: int = 500
    ) -> TurkHit:
        asked = crowd_requirements(["US", "GB"], min_approved, 95 if min_approved else 0)
        requirements = tuple(replace(one, guarded=guarded) for one in asked)
        kind = HitTypeSpec(TITLE, "Read two dialogs.", "rating", 80, 600, 86_400, requirements)
        question = external_question(f"{live_server_url}/task/?study=x&y", height)
        new = NewHit(market.create_hit_type(kind), question, assignments, 86_400, token, token)
        return TurkHit.objects.get(hit_id=market.create_hit(new))

    return publish


def test_a_worker_previews_accepts_returns_submits_and_is_paid(
    page: Page, publish_hit: PublishHit, check_accessibility: CheckAccessibility
) -> None:
    hit = publish_hit(min_approved=100)
    become(page, "Alice", check_accessibility)
    expect(page.get_by_text("Empty. A HIT that you accept")).to_be_visible()
    expect(page.get_by_text("Number of HITs approved at least 100")).to_be_visible()
    expect(page.get_by_text("not met")).to_have_count(0)

    page.get_by_role("link", name="Preview").click()
    expect(frame(page).get_by_text("assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")).to_be_visible()
    expect(frame(page).get_by_text(f"hitId={hit.hit_id}, workerId=none, turkSubmitTo=none, study=x")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Accept & Work").click()

    expect(frame(page).get_by_text("workerId=A1ALICEQ8R2KZ7")).to_be_visible()
    expect(frame(page).get_by_text(re.compile(r"turkSubmitTo=http://localhost:\d+/market,"))).to_be_visible()
    expect(page.locator(FRAME)).to_have_attribute("height", "500")
    check_accessibility(page)
    page.get_by_role("link", name="Return this HIT").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Return this HIT?")
    check_accessibility(page)
    page.get_by_role("button", name="Yes, return it").click()
    expect(page.get_by_text("returned by you")).to_be_visible()

    page.get_by_role("button", name="Accept & Work").click()
    expect(frame(page).get_by_text("workerId=A1ALICEQ8R2KZ7")).to_be_visible()
    page.get_by_role("link", name="HITs and queue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("HITs for Alice")
    check_accessibility(page)
    page.get_by_role("link", name="Continue").click()
    frame(page).get_by_role("button", name="Submit").click()
    expect(frame(page).get_by_role("heading", name="Thank you, your work is submitted")).to_be_visible()
    expect(page.get_by_text("Submitted", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Return this HIT")).to_have_count(0)
    frame(page).get_by_role("link", name="To HITs and queue").click()

    expect(page.get_by_role("row", name=re.compile("submitted, waiting for approval"))).to_contain_text("$0.80")
    assert tiles(page) == {"approved": "$0.00", "waiting for approval": "$0.80", "bonuses": "$0.00"}
    done = hit.assignments.get(status="Submitted")
    assert re.findall("<QuestionIdentifier>(.*?)</.*?<FreeText>(.*?)</", done.answer) == [
        ("good", "a"),
        ("good", "b"),
        ("feedback", "fine &amp; good"),
    ]
    market = connect()
    market.approve(done.assignment_id, "Well done <3")
    market.send_bonus(done.worker.worker_id, done.assignment_id, 25, "Three points", "bonus")
    page.reload()
    assert tiles(page) == {"approved": "$0.80", "waiting for approval": "$0.00", "bonuses": "$0.25"}
    expect(page.get_by_text("“Well done <3”")).to_be_visible()
    check_accessibility(page)


def test_the_clock_runs_without_moving_the_page_and_speaks_once_a_minute(page: Page, publish_hit: PublishHit) -> None:
    publish_hit()
    become(page, "Alice")
    page.clock.install()
    page.get_by_role("button", name="Accept & Work").click()
    expect(page.get_by_role("timer")).to_contain_text(re.compile(r"00:0\d of 10:00 used"))
    place = page.locator(FRAME).bounding_box()

    page.clock.fast_forward("00:50")
    expect(page.get_by_role("timer")).to_contain_text("00:5")
    expect(page.locator("[data-said]")).to_have_text("")
    page.clock.fast_forward("01:30")
    expect(page.get_by_role("timer")).to_contain_text("02:2")
    expect(page.locator("[data-said]")).to_have_text("2 minutes used, 8 minutes left.")
    page.clock.fast_forward("20:00")

    expect(page.get_by_text("Time is over", exact=True)).to_be_visible()
    expect(page.get_by_role("timer")).to_have_text("10:00 of 10:00 used")
    expect(page.locator("[data-said]")).to_have_text("The time for this HIT is over.")
    assert page.locator(FRAME).bounding_box() == place


def test_a_worker_who_does_not_qualify_sees_why(
    page: Page, publish_hit: PublishHit, check_accessibility: CheckAccessibility
) -> None:
    hit = publish_hit(min_approved=100)
    become(page, "Finn")

    expect(page.get_by_role("listitem").filter(has_text="Location is one of US, GB")).to_contain_text("met")
    expect(page.get_by_role("listitem").filter(has_text="approved at least 100")).to_contain_text("not met")
    expect(page.get_by_role("button", name="Accept & Work")).to_have_count(0)
    check_accessibility(page)
    post(page, f"/market/hits/{hit.hit_id}/accept/")

    expect(page.get_by_role("heading", level=1)).to_have_text("This HIT asks for other qualifications")
    expect(page.get_by_role("listitem").filter(has_text="approved at least 100")).to_contain_text("not met")
    check_accessibility(page)
    assert not TurkAssignment.objects.exists()


def test_a_rehearsal_shows_what_is_hidden_from_a_worker_and_why(
    page: Page, publish_hit: PublishHit, check_accessibility: CheckAccessibility
) -> None:
    hit = publish_hit(min_approved=100, guarded="DiscoverPreviewAndAccept")
    become(page, "Gita")

    expect(page.get_by_text("There are no HITs for Gita now.")).to_be_visible()
    hidden = page.get_by_role("region", name="Hidden from Gita")
    expect(hidden.get_by_role("heading", level=3)).to_have_text(TITLE)
    expect(hidden.get_by_role("listitem").filter(has_text="approval rate (%) at least 95")).to_contain_text("not met")
    check_accessibility(page)
    page.goto(f"/market/hits/{hit.hit_id}/preview/")
    expect(page.get_by_role("heading", level=1)).to_have_text("This HIT asks for other qualifications")


def test_each_refusal_to_accept_has_its_own_words(
    page: Page, publish_hit: PublishHit, check_accessibility: CheckAccessibility
) -> None:
    market, now = connect(), Clock().now()
    alice, clare = (WorkerAccount.objects.get(name=name) for name in ("Alice", "Clare"))
    taken, held, done, over, barred = (publish_hit(token=name) for name in ("taken", "held", "done", "over", "barred"))
    accept(clare, taken, now)
    mine = accept(alice, held, now)
    submit(accept(alice, done, now).assignment_id, alice, {"answer": ["1"]}, now)
    market.expire_hit(over.hit_id)
    become(page, "Alice")

    for hit, heading in [
        (taken, "Others were faster"),
        (done, "You have done this HIT"),
        (over, "This HIT is over"),
    ]:
        page.goto("/market/hits/")
        post(page, f"/market/hits/{hit.hit_id}/accept/")
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        check_accessibility(page)
    page.goto("/market/hits/")
    post(page, f"/market/hits/{held.hit_id}/accept/")
    expect(page).to_have_url(re.compile(f"/market/work/{mine.assignment_id}/"))
    market.block_worker(alice.worker_id, "a test")
    page.goto("/market/hits/")
    expect(page.get_by_text("This requester does not take work from you.")).to_be_visible()
    post(page, f"/market/hits/{barred.hit_id}/accept/")
    expect(page.get_by_role("heading", level=1)).to_have_text("This requester does not take your work")
    page.goto("/market/hits/NOSUCHHIT/preview/")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing at this address")
    check_accessibility(page)


def test_an_assignment_that_is_not_held_any_more_says_why(
    page: Page, publish_hit: PublishHit, check_accessibility: CheckAccessibility
) -> None:
    now = Clock().now()
    alice, clare = (WorkerAccount.objects.get(name=name) for name in ("Alice", "Clare"))
    returned, done, late, lent = (
        accept(alice, publish_hit(token=name), now).assignment_id for name in ("returned", "done", "late", "lent")
    )
    hers = accept(clare, publish_hit(token="hers"), now).assignment_id
    return_assignment(returned, alice, now)
    submit(done, alice, {"answer": ["1"]}, now)
    become(page, "Alice")

    page.goto(f"/market/work/{lent}/")
    expect(page.locator(FRAME)).to_be_visible()
    for assignment_id, heading in [
        (returned, "You returned this HIT"),
        (done, "This is already submitted"),
        (hers, "This assignment belongs to another worker"),
    ]:
        page.goto(f"/market/work/{assignment_id}/")
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        check_accessibility(page)
    Clock().advance(timedelta(minutes=11))
    page.goto(f"/market/work/{late}/return/")
    expect(page.get_by_role("heading", level=1)).to_have_text("The time is over")


def test_the_answer_to_a_submission_is_accessible_outside_of_the_frame_too(
    page: Page, publish_hit: PublishHit, check_accessibility: CheckAccessibility
) -> None:
    held = accept(WorkerAccount.objects.get(name="Alice"), publish_hit(), Clock().now()).assignment_id

    for assignment_id, heading in [
        ("UNKNOWN", "This assignment is not known"),
        (held, "Thank you, your work is submitted"),
        (held, "This is already submitted"),
    ]:
        page.goto(f"/task/?assignmentId={assignment_id}&workerId=any&turkSubmitTo=/market")
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        check_accessibility(page)


def test_work_that_comes_too_late_or_twice_is_told_so_in_the_frame(page: Page, publish_hit: PublishHit) -> None:
    hit = publish_hit(assignments=2)
    become(page, "Alice")
    page.get_by_role("button", name="Accept & Work").click()
    expect(frame(page).get_by_role("button", name="Submit")).to_be_visible()
    mine = hit.assignments.get()

    submit(mine.assignment_id, mine.worker, {"answer": ["from another tab"]}, Clock().now())
    frame(page).get_by_role("button", name="Submit").click()
    expect(frame(page).get_by_role("heading", level=1)).to_have_text("This is already submitted")
    mine.refresh_from_db()
    assert "from another tab" in mine.answer
    become(page, "Clare")
    page.get_by_role("button", name="Accept & Work").click()
    expect(frame(page).get_by_role("button", name="Submit")).to_be_visible()
    Clock().advance(timedelta(minutes=11))
    frame(page).get_by_role("button", name="Submit").click()

    expect(frame(page).get_by_role("heading", level=1)).to_have_text("The time is over")
    assert hit.assignments.get(worker__name="Clare").status == "Abandoned"


def test_forms_that_cannot_be_taken_are_refused_in_words_and_change_nothing(
    client: Client, publish_hit: PublishHit
) -> None:
    alice = WorkerAccount.objects.get(name="Alice")
    held = accept(alice, publish_hit(), Clock().now())
    address = "/market/mturk/externalSubmit"

    refusals = [
        client.post(address, {"answer": "1"}),
        client.post(address, {"assignmentId": "UNKNOWN\0", "answer": "1"}),
        client.post(address, {"assignmentId": held.assignment_id}),
        client.post(address, {"assignmentId": held.assignment_id, "answer": "x" * 1_000_001}),
        client.post(address, {"assignmentId": held.assignment_id, **{f"field{n}": "1" for n in range(1001)}}),
    ]

    assert [response.status_code for response in refusals] == [404, 404, 400, 413, 413]
    for response, words in zip(refusals, ["not known", "not known", "was empty", "too much", "too much"], strict=True):
        assert words in response.content.decode()
        assert "frame-ancestors 'self'" in response.headers["Content-Security-Policy"]
    held.refresh_from_db()
    assert held.status == "Accepted"


@pytest.mark.django_db
def test_the_marketplace_is_there_only_while_it_is_the_local_one(client: Client, settings: Settings) -> None:
    assert client.get("/market/").status_code == 200
    client.cookies["market_worker"] = "A1ALICEQ8R2KZ7:forged"
    assert client.get("/market/hits/").headers["Location"] == "/market/"
    settings.MTURK_ENVIRONMENT = "sandbox"

    assert client.get("/market/").status_code == 404
    assert client.post("/market/mturk/externalSubmit", {"assignmentId": "X", "a": "1"}).status_code == 404


def become(page: Page, name: str, check_accessibility: CheckAccessibility | None = None) -> None:
    page.goto("/market/")
    if check_accessibility is not None:
        check_accessibility(page)
    page.get_by_role("button", name=re.compile(f"^{name}")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"HITs for {name}")
    if check_accessibility is not None:
        check_accessibility(page)


def frame(page: Page) -> FrameLocator:
    return page.frame_locator(FRAME)


def tiles(page: Page) -> dict[str, str]:
    found = page.locator(".tile").all()
    return {tile.locator("dt").inner_text(): tile.locator("dd").inner_text() for tile in found}


def post(page: Page, address: str) -> None:
    """Presses a button that the page does not show to this worker, as a page that is no longer true would."""
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    page.evaluate(
        """([address, token]) => {
            const form = document.createElement("form");
            form.method = "post"; form.action = address;
            form.innerHTML = '<input type="hidden" name="csrfmiddlewaretoken">';
            form.firstChild.value = token;
            document.body.append(form);
            form.submit();
        }""",
        [address, token],
    )
    page.wait_for_load_state()
