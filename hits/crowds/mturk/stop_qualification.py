"""The study's own qualification on a marketplace: who has it, sees no more of its HITs."""

from hits.crowds.mturk.client import MTurkMarket
from hits.models import Offering, Study


def stop_qualification(offering: Offering, market: MTurkMarket) -> str:
    """Return its id; make it if it is not there."""
    this = Offering.objects.filter(pk=offering.pk)
    known = this.values_list("stop_qualification_id", flat=True).get()
    if not known:
        known = find_stop_qualification(offering.study, market)
        this.filter(stop_qualification_id="").update(stop_qualification_id=known)
    return known


def find_stop_qualification(study: Study, market: MTurkMarket) -> str:
    """By its name, so that one which was made by a run that was killed is found again."""
    return market.own_qualification(
        f"EvalPlatform {study.key}", "Has done as many HITs of this study as one may, or was asked to stop."
    )
