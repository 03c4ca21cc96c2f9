"""Acts on what the rule has seen: drops models, stops the study, and asks for the next wave."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from evalplatform.errors import EvalPlatformError
from hits.analysing import WholeHits, find_whole_hits, findings_from_json
from hits.budgeting import OverBudget, spending, typed_cap_cents
from hits.crowds import Market
from hits.deciding.looking import look
from hits.deciding.rule_state import is_wave_due, rule_of, standing_stop
from hits.deciding.rule_words import describe_drop, describe_finish, describe_no_money
from hits.models import DroppedModel, Event, Offering, Publication, PublishingRun, RuleLook, RuleStop
from hits.publishing import request_again, request_run, send_run, stop_study
from hits.stats import Ruling, rule_on

SendRun = Callable[[PublishingRun], None]


@dataclass(frozen=True)
class Followed:
    """What following the rule has done this time."""

    dropped: tuple[str, ...] = ()
    stopped: str = ""  # the reason, if the study has stopped
    is_wave_requested: bool = False


def follow_rule(offering: Offering, market: Market, now: Callable[[], datetime], send: SendRun) -> Followed:
    """Follow the offering's rule; do nothing if its design has none. Call it after each sync. `send` starts a wave."""
    rule = rule_of(offering)
    if rule is None:
        return Followed()
    request_again(offering, send, now())  # a wave whose process died
    stop = standing_stop(offering)
    dropped: tuple[str, ...] = ()
    is_requested = False
    if stop is None:
        whole = find_whole_hits(offering)
        seen = look(offering, whole, now())
        if seen is None:
            return Followed()
        if rule.has_rule:
            dropped, stop = _decide(offering, seen, now())
        if stop is None:
            is_requested, stop = _ask_for_wave(offering, seen, whole, now(), send)
    if stop is not None:
        _apply(stop, offering, market, now)
    return Followed(dropped, stop.reason if stop else "", is_requested)


def ruling_of(offering: Offering, seen: RuleLook) -> Ruling:
    design = offering.study.parsed_design
    gone = set(DroppedModel.objects.filter(offering=offering).values_list("generator", flat=True))
    reference = design.analysis.reference if design.analysis.compare == "one against the others" else ""
    living = [name for name in design.generators if name not in gone]
    return rule_on(findings_from_json(seen.findings), living, design.analysis.drop_losers, reference)


def _decide(offering: Offering, seen: RuleLook, now: datetime) -> tuple[tuple[str, ...], RuleStop | None]:
    """Save who is dropped and whether the study stops, all or nothing, before anything is done about it."""
    rule = offering.study.parsed_design.analysis
    with spending(offering.study):  # of two syncs at once, the second finds what the first has saved
        ruling = ruling_of(offering, seen)
        for loser, winner in ruling.dropped:
            reason = describe_drop(loser, winner, seen)
            DroppedModel.objects.create(offering=offering, generator=loser, dropped_at=now, reason=reason, look=seen)
            _note(offering, now, reason)
        dropped = tuple(loser for loser, _ in ruling.dropped)
        is_over = ruling.is_over and bool(seen.findings) and (rule.stop_when_decided or len(ruling.living) < 2)
        known = standing_stop(offering)
        if not is_over or known is not None:
            return dropped, known
        reason = describe_finish(offering, seen, ruling)
        return dropped, _save_stop(offering, RuleStop.Kind.DECIDED, reason, seen, now)


def _save_stop(offering: Offering, kind: RuleStop.Kind, reason: str, seen: RuleLook, now: datetime) -> RuleStop:
    stop = RuleStop.objects.create(offering=offering, kind=kind, stopped_at=now, reason=reason, look=seen)
    _note(offering, now, f"the study stopped by its own rule on the {offering.marketplace} market: {reason}")
    return stop


def _apply(stop: RuleStop, offering: Offering, market: Market, now: Callable[[], datetime]) -> None:
    """Take what is on offer off the market. Who holds a HIT may finish it and is paid. If the marketplace does not
    answer, the next sync tries again."""
    if stop.kind == RuleStop.Kind.DECIDED:
        ours = Publication.objects.filter(offering=offering)
        if stop.applied_at is not None and not ours.open().exists():
            return
        result = stop_study(offering, market, now)
        if result.stopped_by:
            return
    RuleStop.objects.filter(pk=stop.pk, applied_at=None).update(applied_at=now())


def _ask_for_wave(
    offering: Offering, seen: RuleLook, whole: WholeHits, now: datetime, send: SendRun
) -> tuple[bool, RuleStop | None]:
    """Request the next wave, at most once for a look. If the budget does not allow it, the study stops."""
    if not is_wave_due(offering, seen, whole):
        return False, None
    try:
        with transaction.atomic():
            if not RuleLook.objects.filter(pk=seen.pk, wave_requested_at=None).update(wave_requested_at=now):
                return False, None
            run = request_run(offering, None, typed_cap_cents(offering), None, now)
    except OverBudget as refused:
        with spending(offering.study):
            known = standing_stop(offering)
            reason = describe_no_money(refused)
            return False, known or _save_stop(offering, RuleStop.Kind.BUDGET, reason, seen, now)
    except EvalPlatformError as refused:
        _note_once(offering, now, f"the next wave on the {offering.marketplace} market was not published: {refused}")
        return False, None
    send_run(run, send, now)
    return True, None


def _note(offering: Offering, now: datetime, text: str) -> None:
    Event.objects.create(study=offering.study, at=now, actor=None, text=text)


def _note_once(offering: Offering, now: datetime, text: str) -> None:
    if not Event.objects.filter(study=offering.study, text=text).exists():
        _note(offering, now, text)
