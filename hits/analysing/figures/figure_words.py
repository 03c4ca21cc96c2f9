"""Names that fit beside a drawing, and how far its whiskers reach."""

from hits.stats import Estimate, Undefined

LONGEST_NAME = 30  # in letters, beside a drawing: the words below it have names in full


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut in the middle: names of models often begin alike and differ at the end."""
    if len(name) <= longest:
        return name
    kept = longest - 1
    return f"{name[: kept - kept // 2]}…{name[-(kept // 2) :]}"


def half_widths(value: Estimate) -> tuple[float, float] | None:
    """How far an interval reaches to the left and to the right."""
    if isinstance(value.interval, Undefined):
        return None
    return max(0.0, value.value - value.interval.low), max(0.0, value.interval.high - value.value)
