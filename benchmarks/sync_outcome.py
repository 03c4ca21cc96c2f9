"""Count what came of a round of the chaos benchmark of collecting: lost or changed answers, and payments."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.restored_rows import HandedIn, rating_key
from benchmarks.sync_side import annotation_of, cents_here, cents_there

if TYPE_CHECKING:
    from hits.models import Study

MUST_BE_ZERO = ("answers lost", "answers changed", "payments double", "payments missing", "payments to the wrong")
AND_ZERO = (
    "cents of difference between our ledger and the marketplace's",
    "empty submissions that we paid",
    "empty submissions that nobody is asked about",
    "last syncs that failed",
)


@dataclass(frozen=True)
class SyncOutcome:
    study: "Study"
    handed_in: dict[tuple[str, str], HandedIn]  # by assignment and worker
    empty: set[tuple[str, str]]

    def counts(self) -> Counter[str]:
        """Compare the marketplace's tables with ours, and with what was handed in."""
        from hits.models import Rating
        from localturk.models import TurkAssignment

        there = TurkAssignment.objects.filter(hit__requester_annotation__startswith=annotation_of(self.study))
        there = there.filter(status__in=["Submitted", "Approved", "Rejected"])
        tally: Counter[str] = Counter()
        of_study = Rating.objects.filter(submission__assignment__hit__study=self.study)
        for assignment in there.select_related("worker"):
            key = assignment.assignment_id, assignment.worker.worker_id
            if key in self.empty:
                self._look_at_empty(assignment, tally)
                continue
            ratings = of_study.filter(
                submission__assignment__crowd_assignment_id=key[0], submission__assignment__crowd_worker_id=key[1]
            )
            self._compare_one(assignment, self.handed_in[key], Counter(map(rating_key, ratings)), tally)
        tally["answers lost"] += max(0, len(self.handed_in) + len(self.empty) - len(there)) * self._dialog_count()
        ours, theirs = cents_here(self.study), cents_there(self.study)
        tally[AND_ZERO[0]] = abs(ours - theirs)
        return tally

    def _look_at_empty(self, there: Any, tally: Counter[str]) -> None:
        """Check an empty submission: only the marketplace itself may approve it, after its delay; until then it waits
        for a person's decision."""
        from hits.budgeting import waiting_for_decision
        from hits.models import Submission, offering_for

        tally["empty submissions"] += 1
        is_paid_by_itself = there.status == "Approved" and there.approved_at == there.auto_approval_at
        tally["  approved by the marketplace itself"] += is_paid_by_itself
        tally["empty submissions that we paid"] += there.status == "Approved" and not is_paid_by_itself
        if there.status == "Submitted":
            ours = Submission.objects.get(assignment__crowd_assignment_id=there.assignment_id)
            tally["empty submissions that nobody is asked about"] += ours.pk not in waiting_for_decision(
                offering_for(self.study, "local")
            )

    def _compare_one(self, there: Any, handed_in: HandedIn, ratings: Counter[Any], tally: Counter[str]) -> None:
        tally["assignments handed in"] += 1
        tally["answers of them"] += self._dialog_count()
        if not ratings:
            tally["answers lost"] += self._dialog_count()
        tally["answers changed"] += bool(ratings) and ratings != handed_in.ratings
        rewards = there.ledger_entries.filter(kind="Reward").count()
        bonuses = there.bonus_payments.filter(reason__endswith="[bonus]").count()
        tally["bonuses given there by hand"] += there.bonus_payments.count() - bonuses
        due = int(handed_in.has_won)
        tally["rewards"] += rewards
        tally["bonuses"] += bonuses
        tally["payments missing"] += (rewards < 1) + (bonuses < due)
        tally["payments double"] += max(0, rewards - 1) + max(0, bonuses - 1)
        tally["payments to the wrong"] += bonuses > 0 and not due

    def _dialog_count(self) -> int:
        return int(self.study.design["hits"]["dialogs"])
