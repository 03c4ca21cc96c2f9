"""The study's own qualification on a marketplace: who has it, sees no more of its HITs."""

from hits.crowds.mturk.client import Market
from hits.models import Study, StudyMarket


def stop_qualification(study: Study, environment: str, market: Market) -> str:
    """Its id; it is made if it is not there."""
    found = known_stop_qualification(study, environment) or find_stop_qualification(study, market)
    note_stop_qualification(study, environment, found)
    return found


def known_stop_qualification(study: Study, environment: str) -> str:
    known = StudyMarket.objects.filter(study=study, environment=environment).first()
    return known.stop_qualification_id if known else ""


def find_stop_qualification(study: Study, market: Market) -> str:
    """By its name, so that one which was made by a run that was killed is found again."""
    return market.own_qualification(
        f"EvalPlatform {study.key}", "Has done as many HITs of this study as one may, or was asked to stop."
    )


def note_stop_qualification(study: Study, environment: str, qualification_id: str, page_url: str = "") -> None:
    """And from where the study is published, when that happens now: before the first HIT, and for good."""
    StudyMarket.objects.get_or_create(
        study=study, environment=environment, defaults={"stop_qualification_id": qualification_id}
    )
    if page_url:
        unknown = StudyMarket.objects.filter(study=study, environment=environment, page_url="")
        unknown.update(page_url=page_url)
