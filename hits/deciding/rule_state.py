"""Says how far a study's rule is: which HITs are whole, which data it has seen, and whether it has anything to do.

The rule looks at whole HITs (hits.analysing.whole_hits). This file needs no pandas, since every scheduled sync asks it.
"""

import hashlib
import json

from django.db.models import Count, Max

from hits.analysing import WholeHits, find_whole_hits
from hits.models import Offering, Publication, RuleLook, RuleStop, ScreeningRun, Submission
from hits.models.design import AnalysisPart


def rule_of(offering: Offering) -> AnalysisPart | None:
    """Return the design's rule, or None if the study just runs to its end."""
    analysis = offering.study.parsed_design.analysis
    return analysis if analysis.has_rule or analysis.wave_hits else None


def standing_stop(offering: Offering) -> RuleStop | None:
    return RuleStop.objects.standing().filter(offering=offering).first()


def has_stopped(offering: Offering) -> bool:
    return standing_stop(offering) is not None


def is_rule_due(offering: Offering) -> bool:
    """Return whether a scheduled sync must visit the offering for its rule, though nothing is on offer any more."""
    if rule_of(offering) is None:
        return False
    stop = standing_stop(offering)
    if stop is not None:
        return stop.applied_at is None
    last = RuleLook.objects.filter(offering=offering).first()
    whole = find_whole_hits(offering)
    if not whole.numbers:
        return False
    return last is None or last.source != source_of_look(offering, whole) or is_wave_due(offering, last, whole)


def source_of_look(offering: Offering, whole: WholeHits) -> str:
    """Return a hash that changes when a look would see other data."""
    ours = Submission.objects.filter(assignment__offering=offering).with_answers()
    # HIT numbers are contiguous but for refused ones, so their last one and their count name them.
    counts = ours.filter(assignment__hit__number__lte=max(whole.numbers, default=-1)).aggregate(
        count=Count("pk"), last=Max("pk")
    )
    run = ScreeningRun.objects.current(offering)
    facts = [len(whole.numbers), max(whole.numbers, default=-1), *counts.values(), run and run.pk]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def is_wave_due(offering: Offering, look: RuleLook, whole: WholeHits) -> bool:
    """Return whether the next wave is to be requested: all that is published is done, more is left, and nobody has
    taken HITs off the market by hand."""
    if not offering.study.parsed_design.analysis.wave_hits or not whole.is_everything:
        return False
    if look.wave_requested_at is not None or offering.publishing_runs.under_way().exists():
        return False
    ours = Publication.objects.filter(offering=offering).current()
    if ours.stopped().exists() or ours.unconfirmed().exists():
        return False
    return offering.study.hits.frozen().exclude(publications__in=ours).exists()
