"""Distinct-1 and -2: how varied a generator's words are (Li et al. 2016)."""

from collections.abc import Iterable, Mapping, Sequence

from generation.metrics import words
from generation.metrics.metric import Column, Found, Metric, Replies
from generation.models import GeneratorScore


class DistinctMetric(Metric):
    columns = (
        Column("distinct_1", "D1", ".4f", "Distinct-1, different words / all words of all replies"),
        Column("distinct_2", "D2", ".4f", "Distinct-2, different pairs of words / all pairs"),
    )
    packages = ("sacrebleu",)

    def version(self) -> str:
        return words.version()

    def summarise(self, replies: Replies) -> Found:
        texts = [words.words_of(text) for text in replies.texts]
        return {f"distinct_{n}": distinct(texts, n) for n in (1, 2)}, len(texts)

    def notes(self, rows: Mapping[str, Mapping[str, GeneratorScore]], is_one_dataset: bool) -> list[str]:
        """Warn if models have different numbers of replies, because Distinct falls with every further reply."""
        counts = {scores["distinct_1"].candidate_count for scores in rows.values() if "distinct_1" in scores}
        if len(counts) < 2 or not is_one_dataset:
            return []
        return [
            f"The models have {min(counts):,} to {max(counts):,} replies: Distinct falls with their number, so that "
            "D1 and D2 can be compared only between models with equal counts."
        ]


def distinct(replies: Iterable[Sequence[str]], n: int) -> float | None:
    """Return different n-grams / all n-grams, over all replies together (Li et al. 2016). None if there is no n-gram.

    It falls as replies are added, so it can't compare models with different numbers of replies.

    >>> distinct([["so", "sad"], ["so", "very", "sad"]], 1)
    0.6
    """
    seen: set[tuple[str, ...]] = set()
    total = 0
    for reply in replies:
        grams = list(zip(*(reply[start:] for start in range(n)), strict=False))
        seen.update(grams)
        total += len(grams)
    return len(seen) / total if total else None
