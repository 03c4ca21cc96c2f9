"""Numbers of the results in words, from JSON: an undefined one says why."""

from typing import Any

ALL = "all datasets"
HUMAN = "human reply"
ALPHA = 0.05


def undefined(value: Any) -> str:
    """The reason, or nothing where it is defined."""
    return f"undefined: {value['undefined']}" if isinstance(value, dict) and "undefined" in value else ""


def counted(number: int) -> str:
    return f"{number:,}"


def estimated(value: Any, style: str = ".3f") -> str:
    if reason := undefined(value):
        return reason
    interval = value["interval"]
    if reason := undefined(interval):
        return f"{value['value']:{style}} (interval {reason})"
    return f"{value['value']:{style}} [{interval['low']:{style}}, {interval['high']:{style}}]"


def share(one: dict[str, Any]) -> str:
    interval = one["interval"]
    if reason := undefined(interval):
        return f"{100 * one['share']:.1f} % (interval {reason})"
    return f"{100 * one['share']:.1f} % [{100 * interval['low']:.1f}, {100 * interval['high']:.1f}]"


def p_value(test: Any, name: str = "corrected_p_value") -> str:
    if reason := undefined(test) or undefined(test[name]):
        return reason
    return "< 0.0001" if test[name] < 0.0001 else f"{test[name]:.4f}"


def verdict(pair: dict[str, Any]) -> str:
    test, difference = pair["permutation"], pair["difference"]
    if undefined(test) or undefined(difference) or test["corrected_p_value"] > ALPHA:
        return "can't be told apart"
    return f"{pair['first' if difference['value'] > 0 else 'second']} is better"
