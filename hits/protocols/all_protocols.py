"""All ways of asking that a study may name, and which one it names."""

from collections.abc import Mapping
from typing import Any

from hits.models.design import StudyDesign
from hits.protocols.areas import Areas
from hits.protocols.protocol import Protocol

# The first is the one of a study that does not say how it asks.
REGISTERED: list[type[Protocol[Any]]] = [
    Areas,
]
PROTOCOLS = {one.name: one for one in REGISTERED}


def protocol_of(design: StudyDesign) -> Protocol[Any]:
    return PROTOCOLS[design.protocol](design)


def usual_protocol() -> Protocol[Any]:
    """The first protocol with its default settings: for ratings that are made up without a study."""
    needed = {"name": "any", "datasets": [{"name": "any", "dialogs": 1}], "generators": ["any"]}
    return protocol_of(StudyDesign.model_validate(needed))


def protocol_in(settings: Mapping[str, Any]) -> type[Protocol[Any]]:
    """Of a draft, which may hold anything: the one that it names, or else the first."""
    return PROTOCOLS.get(str(settings.get("protocol")), next(iter(PROTOCOLS.values())))
