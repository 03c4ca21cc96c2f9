"""Renders a comparison of protocols for the terminal."""

import math
from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.analysing.protocol_sensitivity import PairNeeds, ProtocolComparison, SeenBy
from hits.models.money import SIGNS
from hits.stats import Needed, Undefined


def protocol_comparison_as_text(found: ProtocolComparison) -> Iterator[str]:
    names = _names(found.studies)
    for name, study in zip(names, found.studies, strict=True):
        yield from _study(name, study)
    yield from _what_differs(found.studies)
    yield ""
    yield (
        "What each needs to tell two models apart with a chance of 80 %, where "
        f"{count_of(len(found.pairs), 'pair')} share an error of 5 %. Brackets hold 95 % intervals."
    )
    for pair in found.pairs:
        yield from ("", f"  {pair.pair[0]} and {pair.pair[1]}")
        for name, study, size in zip(names, found.studies, pair.sizes, strict=True):
            yield f"    {name:<24} {_needs(study, size)}"
        yield from (f"    {line}" for line in _ratios(names, pair))
    yield from ("", "In short", *(f"  {line}" for line in _in_short(names, found)))
    yield from ("", "How far they rank the models alike (Kendall's tau: 1 is the same order, -1 the reverse)")
    for one in found.rankings:
        tau = one.tau
        if isinstance(tau, Undefined):
            said = f"undefined: {tau.reason}"
        elif isinstance(tau.interval, Undefined):
            said = f"{tau.value:.2f}"
        else:
            said = f"{tau.value:.2f} [{tau.interval.low:.2f}, {tau.interval.high:.2f}]"
        yield f"  {one.first} and {one.second}: {said}"
    if any(study.simulated for study in found.studies):
        yield from ("", "Simulated: not for publication. People may be quicker or surer in one way of asking than in")
        yield "another; the simulation gives all ways the same people, and the minutes that each design expects."


def _what_differs(studies: tuple[SeenBy, ...]) -> Iterator[str]:
    """Say where the studies are not alike although the comparison takes them to be."""
    dialogs = [study.dialogs for study in studies]
    if len(set(dialogs)) > 1:
        counts = ", ".join(f"{count:,}" for count in dialogs)
        yield f"Mind: they have {counts} dialogs; what each needs is counted as if its dialogs were like the others'."
    hourly = [study.effort.cents * 60 / study.effort.minutes for study in studies if study.effort.minutes]
    if len(hourly) > 1 and max(hourly) > 1.05 * min(hourly):
        signs = [SIGNS[study.effort.currency] for study in studies if study.effort.minutes]
        pay = ", ".join(f"{sign}{cents / 100:,.2f}" for sign, cents in zip(signs, hourly, strict=True))
        yield f"Mind: they pay {pay} an hour at most, with fees; ratios of money contain that."


def _names(studies: tuple[SeenBy, ...]) -> list[str]:
    return [f"{one.study} ({one.protocol})" for one in studies]


def _study(name: str, study: SeenBy) -> Iterator[str]:
    effort, sign = study.effort, SIGNS[study.effort.currency]
    times = f"; the mean of {study.simulated} simulated studies" if study.simulated else ""
    yield (
        f"{name}: {study.outcome}; {count_of(study.dialogs, 'dialog')}, {count_of(effort.ratings, 'rating')}, "
        f"{effort.minutes:,.0f} minutes, {sign}{effort.cents / 100:,.2f} at most{times}"
    )
    yield from (f"  {warning}" for warning in study.warnings)


def _needs(study: SeenBy, size: Needed | Undefined) -> str:
    if isinstance(size, Undefined):
        return f"can't be said: {size.reason}"
    effort = study.effort
    parts = [f"{_shown(size.times(effort.ratings), 0)} ratings"]
    if effort.minutes:
        parts.append(f"{_shown(size.times(effort.minutes), 0)} minutes")
    if effort.cents:
        parts.append(f"{SIGNS[effort.currency]}{_shown(size.times(effort.cents / 100), 2)}")
    return ", ".join(parts)


def _ratios(names: list[str], pair: PairNeeds) -> Iterator[str]:
    for name, minutes, money in zip(names[1:], pair.minutes, pair.money, strict=True):
        told = [
            f"{_shown(ratio, 2)} times the {what}"
            for what, ratio in (("minutes", minutes), ("money", money))
            if not isinstance(ratio, Undefined)
        ]
        if told:
            yield f"{name} needs {' and '.join(told)} of {names[0]}"


def _in_short(names: list[str], found: ProtocolComparison) -> Iterator[str]:
    for index, name in enumerate(names[1:]):
        ratios = [pair.minutes[index] for pair in found.pairs]
        fewer = sum(not isinstance(one, Undefined) and one.high < 1 for one in ratios)
        more = sum(not isinstance(one, Undefined) and one.low > 1 for one in ratios)
        rest = len(ratios) - fewer - more
        unsure = f"; of the other {rest}, it can't be said" if rest else ""
        yield (
            f"{name} surely needs fewer minutes than {names[0]} for {fewer} of {count_of(len(ratios), 'pair')}, and "
            f"surely more for {more}{unsure}."
        )


def _shown(needed: Needed, digits: int) -> str:
    high = "no upper end" if math.isinf(needed.high) else f"{needed.high:,.{digits}f}"
    return f"{needed.value:,.{digits}f} [{needed.low:,.{digits}f}, {high}]"
