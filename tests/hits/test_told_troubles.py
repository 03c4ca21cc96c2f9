"""What stands in the way of background work on a marketplace is told where researchers look, and tried again where that
may help."""

import uuid
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from hits import tasks
from hits.background import JOBS, WITH_ROWS_OF_THEIR_OWN, JobTask
from hits.crowds import CROWDS, Met
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import BackgroundJob, Event, Offering, Publication, Study, offering_for
from tests.hits.toy_crowd import ToyCrowd, ToyMarket
from tests.pages import html_of

STARTED_BY_THE_CLOCK = {
    "hits.tasks.sync_published_studies",
    "hits.tasks.note_that_scheduler_runs",
    "hits.tasks.make_server_calls",
    "hits.tasks.send_letters",  # also as soon as some were asked for: each letter is a row that says what became of it
    "hits.tasks.sync_offerings_of_crowd",  # some seconds after a crowd has called
}
SHUT = MarketRefused("AccessDenied", "This key may not close anything.", is_about_account=True)
AWAY = MarketUnavailable("The panel is away.")
ODD = MarketRefused("Odd", "Not this one.")


class Shutting(ToyMarket):
    def expire_hit(self, crowd_hit_id: str) -> None:
        crowd = CROWDS["toy"]
        assert isinstance(crowd, ShuttingCrowd)
        crowd.asked += 1
        if error := crowd.next_error():
            raise error
        super().expire_hit(crowd_hit_id)


class ShuttingCrowd(ToyCrowd):
    """A panel that meets what a test gives it whenever it is asked to close a HIT."""

    attempts = 0  # how often somebody has opened it
    asked = 0
    next_error: Callable[[], MarketRefused | MarketUnavailable | None] = staticmethod(lambda: None)

    def connect(self, offering: Offering, attempts: int) -> Shutting:
        self.attempts += 1
        return Shutting(self.panel, offering)


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> ShuttingCrowd:
    crowd = ShuttingCrowd()
    monkeypatch.setitem(CROWDS, crowd.name, crowd)
    return crowd


@pytest.fixture
def offering(crowd: ShuttingCrowd, demo_study: Study, transactional_db: None) -> Offering:
    offering = offering_for(demo_study, "toy.panel")
    for hit in demo_study.hits.all():
        crowd.panel.hits[f"toy-{hit.number}-0"] = None  # type: ignore[assignment]
        at = timezone.now()
        Publication.objects.create(
            hit=hit, offering=offering, crowd_hit_id=f"toy-{hit.number}-0", intended_at=at, published_at=at
        )
    return offering


def stop_in_background(offering: Offering) -> None:
    """As the pages do it with many HITs, and with all of the task's attempts."""
    job = BackgroundJob.objects.create(
        task_id=uuid.uuid4(),
        study=offering.study,
        offering=offering,
        what=JOBS["hits.tasks.stop_hits_of_offering"],
        requested_at=timezone.now(),
    )
    tasks.stop_hits_of_offering.apply([offering.pk, User.objects.get().pk], task_id=str(job.task_id))


def events() -> list[str]:
    return [event.text for event in Event.objects.order_by("pk")]


def test_an_account_that_may_not_stop_is_told_in_the_events_and_on_the_monitor(
    crowd: ShuttingCrowd, offering: Offering, researcher_client: Client
) -> None:
    crowd.next_error = lambda: SHUT

    stop_in_background(offering)

    assert Publication.objects.open().count() == 6
    assert events() == [f"taking HITs off the market on toy.panel ended early: {SHUT}"]
    page = html_of(researcher_client.get("/studies/demo/monitor/?market=toy.panel"))
    assert f"Taking the HITs off the market failed:</strong> {SHUT}" in page


def test_a_market_that_is_away_is_asked_again_and_told_once(crowd: ShuttingCrowd, offering: Offering) -> None:
    crowd.next_error = lambda: AWAY if crowd.attempts < 3 else None

    stop_in_background(offering)

    assert not Publication.objects.open().exists()
    assert BackgroundJob.objects.get().problem == ""
    assert BackgroundJob.objects.get().finished_at is not None
    assert events() == [
        "taking HITs off the market on toy.panel ended early: The panel is away.",
        "took 6 HITs off the toy.panel market",
    ]
    assert crowd.attempts == 3


def test_a_market_that_stays_away_is_given_up_and_the_monitor_says_so(crowd: ShuttingCrowd, offering: Offering) -> None:
    crowd.next_error = lambda: AWAY

    stop_in_background(offering)

    assert crowd.attempts == 1 + tasks.MOST_RETRIES
    assert BackgroundJob.objects.get().problem == "The panel is away."
    assert len(events()) == 1


def test_single_refusals_are_told_and_the_others_are_stopped(crowd: ShuttingCrowd, offering: Offering) -> None:
    crowd.next_error = lambda: ODD if crowd.asked in (2, 4) else None

    stop_in_background(offering)

    assert Publication.objects.open().count() == 2
    assert events() == [
        "took 4 HITs off the toy.panel market",
        f"taking HITs off the market on toy.panel, but not all of them: 2 times: {ODD}",
    ]


def test_every_task_that_pages_may_request_has_a_row_that_they_show() -> None:
    ours = {name: task for name, task in tasks.build_hits_of_study.app.tasks.items() if name.startswith("hits.tasks.")}

    assert set(ours) == set(JOBS) | WITH_ROWS_OF_THEIR_OWN | STARTED_BY_THE_CLOCK
    assert [name for name in JOBS if not isinstance(ours[name], JobTask)] == []


def test_what_was_met_is_told_in_one_form() -> None:
    met = Met()
    for error in (ODD, ODD, AWAY):
        met.note(error)

    assert met.refused == {str(ODD): 2}
    assert met.refusals == [f"2 times: {ODD}"]
    assert met.early_end == "It ended early: The panel is away. Doing it again goes on from there."
    assert met.troubles == [*met.refusals, met.early_end]
    assert Met().troubles == []
