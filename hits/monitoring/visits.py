"""Evidence of visits in nobody's name: Bonus Validate asked by ids that were never handed in."""

from dataclasses import dataclass

from django.db.models import Count

from hits.models import BonusCheck, Offering


@dataclass(frozen=True)
class LostChecks:
    """Of visits that ended without the marketplace ever confirming them: nobody accepted, or somebody gave it back."""

    checks: int
    visits: int


def count_lost_checks(offering: Offering) -> LostChecks:
    lost = BonusCheck.objects.filter(assignment__offering=offering, assignment__confirmed_at=None).exclude(
        assignment__ended_as=""
    )
    return LostChecks(**lost.aggregate(checks=Count("pk"), visits=Count("assignment", distinct=True)))
