"""Writes what a study's rule has found at a look as JSON, and reads it back. Needs no pandas: pages show it too."""

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from hits.stats import SequenceFinding


def findings_as_json(findings: tuple[SequenceFinding, ...]) -> Any:
    return _adapter().dump_python(findings, mode="json")


def findings_from_json(stored: Any) -> tuple[SequenceFinding, ...]:
    return _adapter().validate_python(stored)


@cache
def _adapter() -> TypeAdapter[tuple[SequenceFinding, ...]]:
    return TypeAdapter(tuple[SequenceFinding, ...])
