"""P@1,100: how often a generator that chooses replies finds the human reply among a hundred (Rashkin et al. 2019).

The dialogs are shuffled by a fixed seed and cut into hundreds; a last one that is not full does not count. In each,
every context is compared with the hundred human replies. Chance gives .01.
"""

from collections.abc import Sequence

import numpy as np

from generation.metrics.metric import Column, Found, Metric, Replies, can_answer
from generation.models import Candidate

HUNDRED = 100
SEED = 0
MATCH = "match_replies"


class ReplyRankingMetric(Metric):
    columns = (
        Column("precision_at_1_100", "P@1,100", ".4f", "how often the human reply is found among a hundred of them"),
    )

    def version(self) -> str:
        return f"1, seed {SEED}"

    def summarise(self, replies: Replies) -> Found:
        if not can_answer(replies.generator, MATCH):
            return {}, 0
        ids = replies.candidates.exclude(dialog__gold="").order_by("dialog__external_id").values_list("pk", flat=True)
        found = hundreds(list(ids))
        hits = sum(self._count_hits(replies, hundred) for hundred in found)
        count = HUNDRED * len(found)
        return {"precision_at_1_100": hits / count if count else None}, count

    def _count_hits(self, replies: Replies, hundred: Sequence[int]) -> int:
        rows = Candidate.objects.filter(pk__in=hundred).select_related("dialog").order_by("pk")
        dialogs = [one.dialog for one in rows]
        return count_found(replies.asked.match_replies(dialogs, [dialog.gold for dialog in dialogs]))


def hundreds(ids: Sequence[int], size: int = HUNDRED) -> list[list[int]]:
    """Shuffle and cut into groups of `size`; the last is dropped if it is not full.

    >>> [len(group) for group in hundreds(range(5259))] == [100] * 52
    True
    """
    order = np.random.default_rng(SEED).permutation(len(ids))
    full = len(ids) // size * size
    return [[ids[place] for place in order[start : start + size]] for start in range(0, full, size)]


def count_found(scores: Sequence[Sequence[float]]) -> int:
    """Count the contexts whose own reply has the highest score. Context i's own is reply i.

    >>> count_found([[0.9, 0.1], [0.5, 0.4]])
    1
    """
    best = np.asarray(scores).argmax(axis=1)
    return int((best == np.arange(len(best))).sum())
