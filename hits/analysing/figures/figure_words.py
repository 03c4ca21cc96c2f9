"""Shortens long names in all figures, and computes how far whiskers reach."""

from hits.stats import Estimate, Undefined

LONGEST_NAME = 30  # letters that fit beside a drawing; the words below it have the names in full


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Shorten a name in the middle, since names of models often begin alike and differ at the end."""
    if len(name) <= longest:
        return name
    kept = longest - 1
    return f"{name[: kept - kept // 2]}…{name[-(kept // 2) :]}"


def half_widths(value: Estimate) -> tuple[float, float] | None:
    """Return how far an interval reaches to the left and to the right of its value."""
    if isinstance(value.interval, Undefined):
        return None
    return max(0.0, value.value - value.interval.low), max(0.0, value.interval.high - value.value)
