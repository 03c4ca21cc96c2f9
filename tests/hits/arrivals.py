"""People who come to a study without a HIT, at the rooms' doors alone, so that many can; time is an argument."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hits.crowds import Visit, open_crowd
from hits.designing import create_study
from hits.models import Assignment, HitPlaces, Offering, offering_for
from hits.publishing import plan_publishing, publish_hits
from hits.serving import DialogState, Ticket, WorkRefused, save_dialogs, submit
from hits.serving.allocating import end_old_leases, give_back
from hits.serving.frozen import frozen_hit, frozen_study
from hits.serving.opening_assignments import open_free_assignment
from tests import snapshots
from tests.conftest import DEMO

START = datetime(2026, 11, 16, 8, tzinfo=UTC)
LIMIT = timedelta(minutes=30)
CROWD = {
    "name": "whole",
    "countries": [],
    "min_approved": 0,
    "min_approval_percent": 0,
    "time_limit_minutes": LIMIT // timedelta(minutes=1),
}


def offer(assignments: int, max_hits_per_worker: int = 100, hits_on_offer: int | None = None) -> Offering:
    """Build and publish a study of 60 dialogs on the crowd that knows studies only as a whole."""
    crowd = {**CROWD, "max_hits_per_worker": max_hits_per_worker}
    hits = {"assignments": assignments}
    study = create_study({**DEMO, "crowd": crowd, "hits": hits, "pay": {"approval": "by hand"}})
    snapshots.build(study)
    study.refresh_from_db()
    offering = offering_for(study, "whole.panel")
    plan = plan_publishing(offering, hits_on_offer)
    publish_hits(plan, open_crowd(offering), "https://eval.example.org/work", lambda: START)
    return offering


@dataclass
class Study:
    """A study on offer, and what its visitors do."""

    offering: Offering
    visits: dict[int, Visit] = field(default_factory=dict)  # by assignment

    def arrive(self, worker: str, now: datetime = START, session: str = "") -> Assignment:
        visit = Visit("whole", "panel", session or f"session-of-{worker}", worker)
        assignment = open_free_assignment(frozen_study(self.offering.study.key), visit, now)
        self.visits[assignment.pk] = visit
        return assignment

    def come_back(self, assignment: Assignment, now: datetime) -> Assignment:
        visit = self.visits[assignment.pk]
        return self.arrive(visit.worker_id, now, visit.assignment_id)

    def begin(self, assignment: Assignment, now: datetime) -> None:
        """Agree, and answer the first dialog."""
        version = self.offering.study.parsed_design.task.consent_version
        save_dialogs(self._ticket(assignment), [next(self._answers(assignment))], now, consent=version)

    def hand_in(self, assignment: Assignment, now: datetime) -> Any:
        version = self.offering.study.parsed_design.task.consent_version
        ticket = self._ticket(assignment)
        save_dialogs(ticket, [], now, consent=version)
        return submit(ticket, list(self._answers(assignment)), "", now)

    def give_back(self, assignment: Assignment) -> bool:
        visit = self.visits[assignment.pk]
        return give_back(self.offering, visit.assignment_id, visit.worker_id)

    def end_leases(self, now: datetime) -> int:
        return end_old_leases(self.offering, now)

    def _ticket(self, assignment: Assignment) -> Ticket:
        number = self._hit(assignment).number
        return Ticket(self.offering.study.key, number, self.visits[assignment.pk])

    def _answers(self, assignment: Assignment) -> Iterator[DialogState]:
        for item in self._hit(assignment).items:
            areas = {str(place): "good" for place in range(item.card_count)}
            yield DialogState(item.position, 0, {"areas": areas})

    def _hit(self, assignment: Assignment) -> Any:
        return frozen_hit(self.offering.study.key, assignment.hit.number, self.offering)


def places(offering: Offering) -> list[tuple[int, int]]:
    """Return how many places of each HIT are taken, and how many there are, in the order of the HITs."""
    rows = HitPlaces.objects.filter(offering=offering).order_by("number")
    return list(rows.values_list("taken", "places"))


def place_of(assignment: Assignment) -> str:
    return Assignment.objects.get(pk=assignment.pk).place


def refusal_of(act: Any, *arguments: Any) -> str:
    try:
        act(*arguments)
    except WorkRefused as refused:
        return refused.refusal
    return ""
