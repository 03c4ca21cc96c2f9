"""Puts into words what a study's rule has done, with its numbers: for the event log, pages and commands."""

from typing import TYPE_CHECKING

from evalplatform.wording import count_of
from hits.analysing import findings_from_json
from hits.models import Offering, RuleLook
from hits.stats import Ruling, SequenceFinding, Undefined

if TYPE_CHECKING:
    from hits.deciding.following import Followed


def describe_drop(loser: str, winner: str, seen: RuleLook) -> str:
    found = next(one for one in findings_from_json(seen.findings) if {one.first, one.second} == {loser, winner})
    return (
        f"{loser} was dropped: it has lost against {winner} ({_figures(found)}, after {_size(seen)}); HITs that are "
        "published from now on leave it out"
    )


def describe_finish(offering: Offering, seen: RuleLook, ruling: Ruling) -> str:
    findings = findings_from_json(seen.findings)
    if len(ruling.living) < 2:
        return f"one model alone has not lost, {', '.join(ruling.living)}, after {_size(seen)}"
    told = "; ".join(_verdict(one) for one in findings if one.decided)
    return f"every pair is decided after {_size(seen)}: {told}"


def describe_no_money(refused: Exception) -> str:
    return f"the budget does not allow another wave ({str(refused).rstrip('.')})"


def describe_followed(followed: "Followed") -> list[str]:
    """Say in lines what following the rule has done this time."""
    lines = [f"{name} was dropped from the HITs that are published from now on." for name in followed.dropped]
    if followed.stopped:
        lines.append(f"The study has stopped by its own rule: {followed.stopped}.")
    if followed.is_wave_requested:
        lines.append("The next wave is being published.")
    return lines


def _size(seen: RuleLook) -> str:
    return f"{count_of(seen.assignments, 'assignment')} of {count_of(seen.hits, 'whole HIT')}"


def _verdict(one: SequenceFinding) -> str:
    if one.better:
        other = one.second if one.better == one.first else one.first
        return f"{one.better} is better than {other} ({_figures(one)})"
    return f"{one.first} and {one.second} are equal within the margin ({_figures(one)})"


def _figures(one: SequenceFinding) -> str:
    if isinstance(one.estimate, Undefined) or isinstance(one.low, Undefined) or isinstance(one.high, Undefined):
        return "undefined"
    return f"{one.first} - {one.second} = {one.estimate:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
