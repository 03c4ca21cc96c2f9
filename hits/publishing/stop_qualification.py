"""The study's own qualification on a marketplace: who has it, sees no more of its HITs."""

from hits.crowds.mturk.client import Market
from hits.models import Offering, Study


def stop_qualification(offering: Offering, market: Market) -> str:
    """Its id; it is made if it is not there."""
    found = known_stop_qualification(offering) or find_stop_qualification(offering.study, market)
    note_stop_qualification(offering, found)
    return found


def known_stop_qualification(offering: Offering) -> str:
    return Offering.objects.values_list("stop_qualification_id", flat=True).get(pk=offering.pk)


def find_stop_qualification(study: Study, market: Market) -> str:
    """By its name, so that one which was made by a run that was killed is found again."""
    return market.own_qualification(
        f"EvalPlatform {study.key}", "Has done as many HITs of this study as one may, or was asked to stop."
    )


def note_stop_qualification(offering: Offering, qualification_id: str, page_url: str = "") -> None:
    """And from where the study is published, when that happens now: before the first HIT, and for good."""
    this = Offering.objects.filter(pk=offering.pk)
    this.filter(stop_qualification_id="").update(stop_qualification_id=qualification_id)
    if page_url:
        this.filter(page_url="").update(page_url=page_url)
