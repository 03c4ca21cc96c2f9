"""Counts Bonus Validate checks by visitors whose assignment the marketplace never confirmed."""

from dataclasses import dataclass

from django.db.models import Count

from hits.models import BonusCheck, Offering


@dataclass(frozen=True)
class LostChecks:
    """Checks in visits that ended before the marketplace confirmed them: nobody had accepted the HIT, or a worker gave
    it back. Many of them may mean that somebody tries out human replies under made-up ids."""

    checks: int
    visits: int


def count_lost_checks(offering: Offering) -> LostChecks:
    lost = BonusCheck.objects.filter(assignment__offering=offering, assignment__confirmed_at=None).exclude(
        assignment__ended_as=""
    )
    return LostChecks(**lost.aggregate(checks=Count("pk"), visits=Count("assignment", distinct=True)))
