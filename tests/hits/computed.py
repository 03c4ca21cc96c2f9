"""A study with ratings and results. These are computed once in a process: the same ratings give the same results."""

from typing import Any

from django.utils import timezone

from hits.analysing import refresh_results, source_of
from hits.analysing.rated_dialogs import rated_dialogs
from hits.analysing.study_analysis import frame_to_analyse, scales_of
from hits.models import RatedDialogs, Study, StudyResults, offering_for
from hits.screening import screen
from hits.tasks import compute_results_of_offering
from tests.hits.rated import rate

COLUMNS = ("results", "figures", "computed_at")
_computed: dict[str, dict[str, Any]] = {}  # by the manifest's hash


def rate_and_screen(study: Study) -> None:
    rate(study)
    screen(offering_for(study, "local"), timezone.now())


def compute(study: Study) -> None:
    """Do as a background process, after `rate_and_screen`."""
    offering = offering_for(study, "local")
    if study.manifest_hash not in _computed:
        compute_results_of_offering(offering.pk)
        _computed[study.manifest_hash] = StudyResults.objects.values(*COLUMNS).get()
        return
    refresh_results(offering, lambda *_: None, timezone.now())
    kept = _computed[study.manifest_hash]
    StudyResults.objects.update(**kept, source=source_of(offering), requested_at=None)
    facts = rated_dialogs(frame_to_analyse(offering), scales_of(study))  # it names rows' ids
    RatedDialogs.objects.update_or_create(offering=offering, defaults={"facts": facts})
