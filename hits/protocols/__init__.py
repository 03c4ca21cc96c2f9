"""Beside the rooms: how people are asked, and what their answers mean.

In: a study's design, and what a page says. Out: what the page gets, whether an answer is valid and complete, whether a
checkpoint is won, which ratings follow and what they are worth. Guaranteed: whatever is true of one way of asking only
stands in its own file; everything else knows `contract.Protocol`. `checkpoints` says which attempt counts.

A new protocol is a file like `areas.py`, one like frontend/src/worker/protocols/areas.ts, and a line in each registry.
"""

from collections.abc import Mapping
from typing import Any

from hits.models.design import StudyDesign
from hits.protocols.areas import Areas
from hits.protocols.protocol import OVERALL, Criterion, InvalidAnswer, Judgement, Protocol, Scale, Value

# The first is the one of a study that does not say how it asks.
REGISTERED: list[type[Protocol[Any]]] = [
    Areas,
]
PROTOCOLS = {one.name: one for one in REGISTERED}


def protocol_of(design: StudyDesign) -> Protocol[Any]:
    return PROTOCOLS[design.protocol](design)


def protocol_in(settings: Mapping[str, Any]) -> type[Protocol[Any]]:
    """Of a draft, which may hold anything: the one that it names, or else the first."""
    return PROTOCOLS.get(str(settings.get("protocol")), next(iter(PROTOCOLS.values())))


__all__ = [
    "OVERALL",
    "PROTOCOLS",
    "Criterion",
    "InvalidAnswer",
    "Judgement",
    "Protocol",
    "Scale",
    "Value",
    "protocol_in",
    "protocol_of",
]
