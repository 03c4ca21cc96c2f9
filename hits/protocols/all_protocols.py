"""Lists all protocols, and finds the one that a study uses."""

from collections.abc import Mapping
from typing import Any

from hits.models.design import StudyDesign
from hits.protocols.areas import Areas
from hits.protocols.best_worst import BestWorst
from hits.protocols.checking_protocols import SMALLEST_DESIGN, checked_protocol
from hits.protocols.likert import Likert
from hits.protocols.pairs import Pairs
from hits.protocols.protocol import Protocol

# A study that names no protocol uses the first.
REGISTERED: list[type[Protocol[Any]]] = [
    Areas,
    Likert,
    Pairs,
    BestWorst,
]
PROTOCOLS = {one.name: checked_protocol(one) for one in REGISTERED}


def protocol_of(design: StudyDesign) -> Protocol[Any]:
    """Return the protocol that the design names, with the design's settings."""
    return PROTOCOLS[design.protocol](design)


def usual_protocol(name: str = REGISTERED[0].name) -> Protocol[Any]:
    """Return a protocol with its default settings, for ratings that are made up without a study, and for drafts that
    can't be read."""
    return protocol_of(StudyDesign.model_validate({**SMALLEST_DESIGN, "protocol": name}))


def protocol_in(settings: Mapping[str, Any]) -> type[Protocol[Any]]:
    """Return the protocol that a draft names, or the first one: a draft may contain anything."""
    return PROTOCOLS.get(str(settings.get("protocol")), next(iter(PROTOCOLS.values())))
