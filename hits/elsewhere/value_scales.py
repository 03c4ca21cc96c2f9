"""Decides what the values of a criterion are: numbers, words with an order, or labels without one; and its scale."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalplatform.errors import EvalPlatformError
from hits.elsewhere.column_mapping import MappingRefused
from hits.protocols import usual_protocol
from hits.stats import BINS, MOST_SHOWN, CriterionScale, score_of, usual_bins

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

USUAL_WORDS = usual_protocol().scale.values
MOST_LABELS = 50
MOST_LISTED = 1_000  # different numbers that are listed; a scale with more is known by its ends

Found = Literal["numbers", "words", "labels"]


@dataclass(frozen=True)
class ValueScale:
    """A criterion's scale. `codes` has the index of each text on a scale of words or labels; numbers need none."""

    kind: Found
    scale: CriterionScale
    codes: Mapping[str, int]
    has_decimal_commas: bool = False


def find_scale(connection: "DuckDBPyConnection", criterion: str, kind: str, words: Sequence[str]) -> ValueScale:
    """Look at a criterion's values in the table `ratings`."""
    where = "criterion = ? AND value IS NOT NULL"
    total, points, commas = _one(
        connection,
        f"SELECT count(*), count(*) FILTER ({NUMBER} IS NOT NULL), count(*) FILTER ({COMMA_NUMBER} IS NOT NULL) "  # noqa: S608
        f"FROM ratings WHERE {where}",
        criterion,
    )
    has_commas = commas > points
    if words or kind == "words":
        return _words(list(words) or list(USUAL_WORDS))
    if kind == "numbers" or (not kind and 2 * max(points, commas) > total):
        return _numbers(connection, criterion, has_commas)
    counted = connection.execute(
        f"SELECT value, count(*) FROM ratings WHERE {where} GROUP BY value ORDER BY count(*) DESC, value "  # noqa: S608
        f"LIMIT {MOST_LABELS + 1}",
        [criterion],
    ).fetchall()
    usual = {word.casefold() for word in USUAL_WORDS}
    if not kind and counted and 2 * sum(n for text, n in counted if text.casefold() in usual) > total:
        return _words(list(USUAL_WORDS))
    if len(counted) > MOST_LABELS:
        raise MappingRefused(
            "values",
            f"The ratings of {criterion} have more than {MOST_LABELS} different texts, such as {counted[0][0][:40]!r}: "
            "is that the column of the ratings?",
        )
    names = tuple(str(text) for text, _ in counted) or ("",)
    scores = tuple(float(score_of(index, len(names))) for index in range(len(names)))
    scale = CriterionScale(names, scores, is_nominal=True)
    return ValueScale("labels", scale, {name: index for index, name in enumerate(names)})


# Numbers with a point, or with a comma as in much of Europe; NULL for everything else, also for infinity.
NUMBER = "CASE WHEN isfinite(TRY_CAST(value AS DOUBLE)) THEN TRY_CAST(value AS DOUBLE) END"
COMMA_NUMBER = NUMBER.replace("value", "replace(value, ',', '.')")


def _words(words: Sequence[str]) -> ValueScale:
    clean = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    if len(clean) < 2:
        raise MappingRefused("words", "A scale of words has at least two; name them best first.")
    scores = tuple(float(score_of(index, len(clean))) for index in range(len(clean)))
    codes = {word: index for index, word in enumerate(clean)}
    folded = [word.casefold() for word in clean]
    for index, word in enumerate(folded):  # other capitals are the same word, unless two words differ by them alone
        if folded.count(word) == 1:
            codes.setdefault(word, index)
    return ValueScale("words", CriterionScale(clean, scores), codes)


def _numbers(connection: "DuckDBPyConnection", criterion: str, has_commas: bool) -> ValueScale:
    number = COMMA_NUMBER if has_commas else NUMBER
    found = connection.execute(
        f"SELECT DISTINCT {number} AS n FROM ratings WHERE criterion = ? AND n IS NOT NULL "  # noqa: S608
        f"ORDER BY n DESC LIMIT {MOST_LISTED + 1}",
        [criterion],
    ).fetchall()
    scores = [float(one) for (one,) in found]
    if not scores:
        raise EvalPlatformError(f"No rating of {criterion} is a number.")
    if len(scores) <= MOST_SHOWN:
        names = tuple(f"{score:.12g}" for score in scores)
        return ValueScale("numbers", CriterionScale(names, tuple(scores), is_by_mean=True), {}, has_commas)
    low, high, whole = _one(
        connection,
        f"SELECT min({number}), max({number}), bool_and({number} = round({number})) FROM ratings "  # noqa: S608
        "WHERE criterion = ?",
        criterion,
    )
    return ValueScale("numbers", long_scale(float(low), float(high), bool(whole)), {}, has_commas)


def long_scale(low: float, high: float, is_whole: bool) -> CriterionScale:
    """Return a scale that is known by its ends, shown by five bins.

    >>> long_scale(0, 100, True).bin_names
    ('81 to 100', '61 to 80', '41 to 60', '21 to 40', '0 to 20')
    >>> long_scale(-2.4, 2.6, False).bin_names
    ('1.6 to 2.6', '0.6 to 1.6', '-0.4 to 0.6', '-1.4 to -0.4', '-2.4 to -1.4')
    """
    if not math.isfinite(high - low):
        raise MappingRefused("values", f"The ratings reach from {low:.6g} to {high:.6g}: that is too wide for a scale.")
    if is_whole and high - low <= MOST_LISTED:
        scores = tuple(float(score) for score in range(int(high), int(low) - 1, -1))
        return CriterionScale((), scores, is_by_mean=True, bins=usual_bins(scores))
    width = (high - low) / BINS
    lows = tuple(_short(low + number * width, width) if number else low for number in reversed(range(BINS)))
    # A bin ends just below the next one; written with six digits, that is where the next one begins.
    tops = [math.nextafter(edge, -math.inf) for edge in lows[:-1]]
    return CriterionScale((), (high, *tops, low), is_by_mean=True, bins=lows)


def _short(edge: float, width: float) -> float:
    """Round a bin's edge to a hundredth of its width, or to what the number can hold."""
    return round(edge, max(0, 2 - math.floor(math.log10(width)))) if width > 0 else edge


def _one(connection: "DuckDBPyConnection", query: str, criterion: str) -> tuple[float, float, float]:
    first, second, third = connection.execute(query, [criterion]).fetchall()[0]
    return first, second, third
