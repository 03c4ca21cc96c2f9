"""Finds what contradicts itself in how a design asks, whatever its protocol: names of criteria, and checkpoints."""

from collections.abc import Iterator
from typing import Any

from hits.errors import DesignProblem
from hits.protocols import Protocol, problems_of_criteria


def find_impossible_asking(protocol: Protocol[Any]) -> Iterator[DesignProblem]:
    wrong = [DesignProblem(protocol.criteria_setting, problem) for problem in problems_of_criteria(protocol.criteria)]
    # Which answers pass can only be told of criteria that are named once.
    yield from wrong or _pointless_checkpoints(protocol)


def _pointless_checkpoints(protocol: Protocol[Any]) -> Iterator[DesignProblem]:
    """Report a bonus that nobody can win, or that nobody can miss."""
    names = [one.name for one in protocol.criteria]
    if protocol.checkpoint_criterion not in names:
        message = f"nobody is asked about {protocol.checkpoint_criterion!r}; use one of: {', '.join(names)}"
        yield DesignProblem(protocol.passing_setting, message)
        return
    if not protocol.design.pay.bonus_cents:
        return
    passing, every = set(protocol.passing_values), set(protocol.gold_scale.values)
    if not passing:
        yield DesignProblem(
            protocol.passing_setting, "lets no answer pass, so that nobody can win a checkpoint's point"
        )
    elif every <= passing:
        yield DesignProblem(
            protocol.passing_setting, "lets every answer pass, so that nobody can miss a checkpoint's point"
        )
