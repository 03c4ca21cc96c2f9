"""Workers who go the whole way: accept on the local marketplace, work on our page, hand in on the marketplace."""

from datetime import UTC, datetime, timedelta

from django.db.models import F

from hits.crowds.mturk.client import MTurkMarket
from hits.models import Answer, Assignment, Hit, Publication, Study, Submission, offering_for
from hits.publishing import plan_publishing, publish_hits
from localturk import working
from localturk.clock import Clock
from localturk.models import TurkAssignment, TurkHit, WorkerAccount
from localturk.seeding import ensure_worker_accounts
from tests.hits.working import Worker


def now() -> datetime:
    return datetime.now(UTC)


def publish(study: Study, market: MTurkMarket, hits: int | None = None) -> None:
    result = publish_hits(
        plan_publishing(offering_for(study, "local"), hits), market, "https://eval.example.org/work", now
    )
    assert not result.refused, result


def people() -> list[WorkerAccount]:
    """Five who meet the paper's requirements."""
    return ensure_worker_accounts()[:5]


class CrowdWorker(Worker):
    """Has accepted a HIT of ours."""

    def __init__(self, hit: Hit, account: WorkerAccount) -> None:
        self.account = account
        self.crowd_hit_id = Publication.objects.current().get(hit=hit).crowd_hit_id
        accepted = working.accept(account, TurkHit.objects.get(hit_id=self.crowd_hit_id), Clock().now())
        super().__init__(hit, account.worker_id, accepted.assignment_id)
        self.open()

    def parameters(self, **others: str) -> dict[str, str]:
        return super().parameters(**{"hitId": self.crowd_hit_id, **others})

    def win_all_bonuses(self) -> None:
        for position, dialog in enumerate(self.data["dialogs"]):
            if dialog["has_bonus"]:
                self.check(position, self.all_in(position, "good"))
        self.open()

    def finish(self, area: str = "good") -> "CrowdWorker":
        """Submits to us and to the marketplace: everything in one area, but for the human replies of dialogs that were
        not validated, which win no point."""
        dialogs = self.everything(area)
        for position, dialog in enumerate(self.data["dialogs"]):
            if dialog["has_bonus"] and not dialog["bonus"]["attempts"]:
                dialogs[position]["areas"][str(self.gold_place(position))] = "bad"
        answer = self.submit(dialogs).json()
        self.hand_in(answer["fields"])
        return self

    def took(self, time: timedelta) -> "CrowdWorker":
        """As if the page had told so long, spread over the dialogs, and the clocks allowed it: a minute more passed."""
        longer = time + timedelta(minutes=1)
        mine = Assignment.objects.filter(pk=self.assignment.pk)
        answers = Answer.objects.filter(assignment__in=mine)
        answers.update(active_ms=round(time / timedelta(milliseconds=1) / answers.count()))
        mine.update(opened_at=F("opened_at") - longer)
        TurkAssignment.objects.filter(assignment_id=self.assignment_id).update(accepted_at=F("accepted_at") - longer)
        Submission.objects.filter(assignment__in=mine).update(accepted_at=F("accepted_at") - longer)
        return self

    def hand_in(self, fields: dict[str, str]) -> None:
        listed = {name: [value] for name, value in fields.items()}
        working.submit(self.assignment_id, self.account, listed, Clock().now())

    def give_back(self) -> None:
        working.return_assignment(self.assignment_id, self.account, Clock().now())
