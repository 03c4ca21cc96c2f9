"""Describes parameters and evidence in words. It needs no pandas, because pages show them."""

from collections.abc import Mapping
from typing import Any


def describe_facts(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_in_short(value)}" for name, value in facts.items())


def _in_short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
