"""Lists all protocols, and finds the one that a study uses."""

from collections.abc import Mapping
from typing import Any

from hits.models.design import StudyDesign
from hits.protocols.areas import Areas
from hits.protocols.protocol import Protocol

# A study that names no protocol uses the first.
REGISTERED: list[type[Protocol[Any]]] = [
    Areas,
]
PROTOCOLS = {one.name: one for one in REGISTERED}


def protocol_of(design: StudyDesign) -> Protocol[Any]:
    """Return the protocol that the design names, with the design's settings."""
    return PROTOCOLS[design.protocol](design)


def usual_protocol() -> Protocol[Any]:
    """Return the first protocol with its default settings, for ratings that are made up without a study."""
    needed = {"name": "any", "datasets": [{"name": "any", "dialogs": 1}], "generators": ["any"]}
    return protocol_of(StudyDesign.model_validate(needed))


def protocol_in(settings: Mapping[str, Any]) -> type[Protocol[Any]]:
    """Return the protocol that a draft names, or the first one: a draft may contain anything."""
    return PROTOCOLS.get(str(settings.get("protocol")), next(iter(PROTOCOLS.values())))
