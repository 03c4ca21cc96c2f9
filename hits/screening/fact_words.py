"""Puts a rule's settings and its evidence into words. It needs no pandas, because pages show them."""

from collections.abc import Mapping
from typing import Any


def rule_in_words(name: str) -> str:
    """Write a rule's name as people read it.

    >>> rule_in_words("lost_for_words")
    'lost for words'
    """
    return name.replace("_", " ")


def describe_facts(facts: Mapping[str, Any]) -> str:
    """List names and values, as in "share 0.97, cards 1,200"."""
    return ", ".join(f"{name.replace('_', ' ')} {_format_value(value)}" for name, value in facts.items())


def _format_value(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
