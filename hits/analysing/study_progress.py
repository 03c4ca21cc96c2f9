"""Decides whether a study is complete, counts the looks at its interim results, and says so in words.

A study is complete when all assignments with its planned dialogs are collected, or when no more can come (its HITs were
stopped or have expired) and at least 95 % of them are there, or when it has stopped by its own rule (hits.deciding).
Until then, results are interim: they show the confidence sequence (hits.stats.sequence) and no verdict of a fixed
sample. A study that somebody stops earlier stays interim for good, because stopping when the results please is what the
sequence protects from. This file needs no pandas, because pages use it too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce
from operator import or_

from django.contrib.auth.models import User
from django.db.models import Count, Q, Sum

from hits.analysing.planned_part import planned_hits
from hits.analysing.pooling import offerings_of
from hits.analysing.stored_looks import findings_from_json
from hits.analysing.whole_hits import assignments_beyond, find_whole_hits
from hits.models import DroppedModel, Event, Offering, Pool, Publication, RuleLook, RuleStop, Scope, Submission
from hits.models.event import THROUGH_LINK
from hits.stats import SequenceFinding

ENOUGH = 0.95  # of the planned assignments, if no more can come
MADE_ELSEWHERE = "the ratings were made elsewhere"


@dataclass(frozen=True)
class Progress:
    """How much of what was planned is collected. `looks` counts how often somebody was shown interim results before
    these were computed; `reason` says why the study is complete or not. Ratings that were made elsewhere have no plan,
    and count as complete."""

    collected: int = 0
    planned: int = 0
    is_complete: bool = True
    looks: int = 0
    reason: str = MADE_ELSEWHERE
    # The design may stop the study or drop models: then confidence sequences decide, whenever it ends. A fixed-sample
    # test on top would have an error of its own.
    is_by_sequence: bool = False
    rule_looks: int = 0  # how often the rule has looked by itself
    looked: tuple[SequenceFinding, ...] = ()  # what the rule's looks have found so far, decisions included
    dropped: tuple[str, ...] = ()  # models that were left out of later HITs
    # Sequences rest on whole HITs, in their frozen order: those up to this number, or all of them (None). `beyond` is
    # how many assignments are collected of later ones.
    whole_until: int | None = None
    beyond: int = 0

    @property
    def has_verdicts(self) -> bool:
        """True if fixed-sample tests are shown."""
        return self.is_complete and not self.is_by_sequence


def describe_progress(progress: Progress) -> str:
    """Say that results are interim, and what that means; "" if the study is complete."""
    if progress.is_complete:
        return describe_sequence_end(progress) if progress.is_by_sequence else ""
    if progress.is_by_sequence:
        return (
            f"Interim: {progress.collected:,} of {progress.planned:,} assignments. Differences have confidence "
            f"sequences, which hold at every look and decide when the study stops.{describe_beyond(progress)}"
        )
    return (
        f"Interim: {progress.collected:,} of {progress.planned:,} assignments. Differences have confidence sequences, "
        "which hold at every look; tests, letters and p-values are given when the study is "
        f"complete.{describe_beyond(progress)}"
    )


def describe_beyond(progress: Progress) -> str:
    """Say how many assignments no sequence rests on yet, after a space; "" if there is none."""
    if not progress.beyond:
        return ""
    which = "1 assignment is" if progress.beyond == 1 else f"{progress.beyond:,} assignments are"
    return f" {which} not in them yet: their HITs, or HITs before them, lack assignments."


def describe_sequence_end(progress: Progress) -> str:
    """Say how a study ended whose confidence sequences decide."""
    return (
        f"{progress.reason[0].upper()}{progress.reason[1:]}. Confidence sequences decide, as its design says: they "
        "hold however often one looks and whenever one stops. Fixed-sample tests are not shown."
    )


def measure_progress(scope: Scope) -> Progress:
    found = _measure_pool(scope) if isinstance(scope, Pool) else _measure_offering(scope)
    return found if found.has_verdicts else _on_whole_hits(found, offerings_of(scope))


def _on_whole_hits(found: Progress, offerings: Sequence[Offering]) -> Progress:
    """Note up to which HIT sequences rest: all earlier ones are whole in each offering."""
    untils = [until for one in offerings if (until := find_whole_hits(one).until) is not None]
    if not untils:
        return found
    beyond = sum(assignments_beyond(one, min(untils)) for one in offerings)
    return replace(found, whole_until=min(untils), beyond=beyond)


def _measure_pool(pool: Pool) -> Progress:
    """Measure a pool against what the study planned once, not once for each offering. It is interim as long as any of
    its offerings has HITs on offer, unless that one has all that was planned for it."""
    offerings = offerings_of(pool)
    parts = [_measure_offering(one) for one in offerings]
    planned = parts[0].planned
    collected = _collected_assignments(offerings, planned_hits(pool.study, "assignment__hit__"))
    told = f"{collected:,} of {planned:,} planned assignments were collected by {len(offerings)} offerings together"
    pairs = zip(offerings, parts, strict=True)
    waiting = [one.marketplace for one, part in pairs if not part.is_complete and _has_more_to_come(one)]
    if waiting:
        told += f", and {', '.join(waiting)} may bring more"
    is_by_sequence = any(one.is_by_sequence for one in parts)
    is_enough = collected >= ENOUGH * planned or any(one.is_complete for one in parts)
    return Progress(
        collected,
        planned,
        is_complete=is_enough and not waiting,
        looks=count_looks(pool),
        reason=told,
        is_by_sequence=is_by_sequence,
        rule_looks=sum(one.rule_looks for one in parts),
        dropped=tuple(dict.fromkeys(name for one in parts for name in one.dropped)),
    )


def _measure_offering(offering: Offering) -> Progress:
    found = _measure_collected(offering)
    if not offering.study.parsed_design.analysis.has_rule:
        return found
    looks = RuleLook.objects.filter(offering=offering)
    last = looks.first()
    found = replace(
        found,
        is_by_sequence=True,
        rule_looks=looks.count(),
        looked=() if last is None else findings_from_json(last.findings),
        dropped=tuple(DroppedModel.objects.filter(offering=offering).values_list("generator", flat=True)),
    )
    stop = RuleStop.objects.standing().filter(offering=offering).first()
    if stop is None:
        return found
    after = f"{found.collected:,} of {found.planned:,} assignments"
    return replace(found, is_complete=True, reason=f"stopped by its rule after {after}: {stop.reason}")


def _measure_collected(offering: Offering) -> Progress:
    planned = _planned_assignments(offering, planned_hits(offering.study))
    collected = _collected_assignments([offering], planned_hits(offering.study, "assignment__hit__"))
    told = f"{collected:,} of {planned:,} planned assignments were collected"
    looks = count_looks(offering)
    if collected >= planned:
        return Progress(collected, planned, True, looks, f"all {planned:,} planned assignments were collected")
    if not _is_over(offering):
        return Progress(collected, planned, False, looks, told)
    is_enough = collected >= ENOUGH * planned
    return Progress(collected, planned, is_enough, looks, f"{told}, and no HIT is on offer any more")


def _planned_assignments(offering: Offering, planned: Q) -> int:
    if not planned:  # all of them
        return int((offering.study.manifest or {}).get("assignments", 0))
    found: int | None = offering.study.hits.filter(planned).aggregate(sum=Sum("assignments"))["sum"]
    return found or 0


def _collected_assignments(offerings: Sequence[Offering], planned: Q) -> int:
    """Count work that has ratings, screened or not. Replacements stand for what they replace: a HIT counts no more
    than it was made with."""
    frozen = Submission.objects.filter(assignment__offering__in=offerings, assignment__hit__added_for=None)
    ours = frozen.filter(planned).with_answers().order_by()
    by_hit = ours.values_list("assignment__hit", "assignment__hit__assignments").annotate(count=Count("pk"))
    return sum(min(made, count) for _, made, count in by_hit)


def _has_more_to_come(offering: Offering) -> bool:
    return Publication.objects.filter(offering=offering, stopped_at=None, closed_at=None).current().exists()


def _is_over(offering: Offering) -> bool:
    counts = (
        Publication.objects.filter(offering=offering)
        .current()
        .aggregate(
            published=Count("pk", filter=~Q(crowd_hit_id="")),
            on_offer=Count("pk", filter=Q(stopped_at=None, closed_at=None)),
            stopped=Count("pk", filter=Q(stopped_at__isnull=False)),
        )
    )
    # HITs that were never published may still be, unless somebody has stopped the study.
    is_all = counts["published"] >= int((offering.study.manifest or {})["hits"])
    return not counts["on_offer"] and bool(counts["stopped"] or (counts["published"] and is_all))


# --- Looks -----------------------------------------------------------------------------------------------------------


def note_look(
    scope: Scope, progress: Progress, source: str, actor: User | None, now: datetime, by_link: bool = False
) -> None:
    """Note that somebody was shown interim results. A look is a set of ratings (`source`) whose interim results were
    shown: however many people see them, on whichever page, in a program or in a bundle, and however often, it is one,
    because nobody learns more from the same numbers. `by_link` says that it was through a share link. `progress` is
    that of the results shown. Complete results are no look."""
    if progress.is_complete:
        return
    begin, end = _beginning(scope), _end(source)
    if not Event.objects.filter(study=scope.study, text__startswith=begin, text__endswith=end).exists():
        told = f"{progress.collected:,} of {progress.planned:,} assignments{f' {THROUGH_LINK}' if by_link else ''}"
        text = f"{begin} {told} {end}"
        Event.objects.create(study=scope.study, at=now, actor=actor, text=text)


def count_looks(scope: Scope, besides: str = "") -> int:
    """Count the looks at interim results, without those at the ratings `besides`. Who has looked at an offering of a
    pool has seen a part of the pool's ratings, so these looks count for the pool as well."""
    looked_at: list[Scope] = [scope, *offerings_of(scope)] if isinstance(scope, Pool) else [scope]
    of_scope = [Q(text__startswith=_beginning(one)) for one in looked_at]
    looks = Event.objects.filter(reduce(or_, of_scope), study=scope.study)
    seen = {text[text.rfind("(") :] for text in looks.values_list("text", flat=True)}
    return len(seen - {_end(besides)})


def _beginning(scope: Scope) -> str:
    return f"looked at interim results on the {scope.marketplace} market:"


def _end(source: str) -> str:
    return f"(ratings {source[:8]})"
