"""Refuses a protocol that could not work, when it is registered: names that are taken, defaults that don't fit."""

from typing import Any

from pydantic import ValidationError

from hits.models.design import StudyDesign
from hits.protocols.criteria import problems_of_criteria
from hits.protocols.protocol import Protocol
from hits.protocols.sent_answers import COMMON_FIELDS

# Of the data that the worker's page gets (hits/api/page_schemas.py); `page_settings` adds to it.
COMMON_PAGE_KEYS = frozenset(
    "crowd mode token title question welcome instructions consent contact consent_version has_agreed is_returning "
    "facts warm_up dialogs step seconds_used seconds_allowed feedback submission may_be_late".split()
)
SMALLEST_DESIGN = {"name": "any", "datasets": [{"name": "any", "dialogs": 1}], "generators": ["any"]}


class BadProtocol(TypeError):
    """A protocol can't work as it is written. Only who writes it ever reads this."""


def checked_protocol(protocol: type[Protocol[Any]]) -> type[Protocol[Any]]:
    """Return the protocol. Raises BadProtocol with the first thing that is wrong with it in a study of defaults."""
    if taken := COMMON_FIELDS & protocol.sent_class.model_fields.keys():
        raise BadProtocol(f"{protocol.name}: {_quoted(taken)} in sent_class is a field of every answer; rename it.")
    usual = protocol(_usual_design(protocol))
    if taken := COMMON_PAGE_KEYS & usual.page_settings().keys():
        raise BadProtocol(f"{protocol.name}: {_quoted(taken)} in page_settings() is there in any page; rename it.")
    for problem in problems_of_criteria(usual.criteria):
        raise BadProtocol(f"{protocol.name}: criteria: {problem}.")
    if usual.checkpoint_criterion not in [one.name for one in usual.criteria]:
        raise BadProtocol(f"{protocol.name}: checkpoint_criterion {usual.checkpoint_criterion!r} is no criterion.")
    if usual.design.analysis.outcome not in usual.outcomes:
        known = _quoted(set(usual.outcomes))
        raise BadProtocol(
            f"{protocol.name}: the default of analysis.outcome is {usual.design.analysis.outcome!r}, and it offers "
            f"{known}: give its design an AnalysisPart with a default of its own."
        )
    return protocol


def _usual_design(protocol: type[Protocol[Any]]) -> StudyDesign:
    try:
        return protocol.design_class.model_validate({**SMALLEST_DESIGN, "protocol": protocol.name})
    except ValidationError as error:
        raise BadProtocol(f"{protocol.name}: its settings need defaults: {error}") from error


def _quoted(names: frozenset[str] | set[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))
