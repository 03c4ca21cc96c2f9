"""Numbers and lists as figures say them."""

from collections.abc import Sequence

from hits.stats.estimates import Estimate, Interval, Undefined

ALL = "all datasets"
LONGEST_NAME = 30  # in letters, beside a drawing: the words below it have names in full


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut in the middle: names of models often begin alike and differ at the end."""
    if len(name) <= longest:
        return name
    kept = longest - 1
    return f"{name[: kept - kept // 2]}…{name[-(kept // 2) :]}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def between(interval: Interval | Undefined, style: str = ".2f") -> str:
    return "no interval" if isinstance(interval, Undefined) else f"{interval.low:{style}} to {interval.high:{style}}"


def percents(interval: Interval | Undefined) -> str:
    return (
        "no interval" if isinstance(interval, Undefined) else f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %"
    )


def estimated(value: Estimate | Undefined, style: str = ".2f") -> str:
    if isinstance(value, Undefined):
        return f"undefined ({value.reason})"
    return f"{value.value:{style}} ({between(value.interval, style)})"


def listed(parts: Sequence[str]) -> str:
    return "; ".join(parts)


def half_widths(value: Estimate) -> tuple[float, float] | None:
    """How far an interval reaches to the left and to the right."""
    if isinstance(value.interval, Undefined):
        return None
    return max(0.0, value.value - value.interval.low), max(0.0, value.interval.high - value.value)
