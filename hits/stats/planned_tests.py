"""Defines what a study has planned to test: its outcome, and the family of pairs that the verdicts are about.

In: what the frozen design says, or nothing for ratings that were made elsewhere. Out: a `Plan`, which the statistics
read. The planned pairs are the primary family and are corrected by themselves; everything else is exploratory. This
file needs neither numpy nor pandas, because pages read plans too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hits.stats.vote_counts import VerdictRule

SHARE_OF_BEST, MEAN_SCORE, WIN_RATE = "share of best", "mean score", "win rate"
OUTCOMES = (SHARE_OF_BEST, MEAN_SCORE, WIN_RATE)
ALL_PAIRS, ONE_AGAINST_THE_OTHERS, NAMED_PAIRS = "all pairs", "one against the others", "named pairs"

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Plan:
    """What is tested. `outcome` is what an answer counts: 1 or 0 for the best value ("share of best"), the score ("mean
    score"), or 1, 1/2 and 0 for a win, a tie and a loss ("win rate"; always so where replies were compared).

    `pairs` is the primary family, and None means all pairs. `criterion` names the only criterion whose pairs are
    primary; if it is empty, each criterion has a primary family of its own. `is_pooled` says whether the family is
    about all datasets together or about each; None, for ratings without a design, leaves it to what was rated.
    `planned_dialogs` is 0 for all dialogs; `planned_until` says where they end in the frozen order, as the block and
    the position in it before which they stand, and only they are tested.
    `tau2` is the mixture variance of the confidence sequence, fixed at freezing; 0 if none was planned. Criteria with
    scales of other lengths have their own, in `tau2_by_criterion`.
    """

    outcome: str = MEAN_SCORE
    pairs: Pairs | None = None
    criterion: str = ""
    is_pooled: bool | None = None
    planned_dialogs: int = 0
    planned_until: tuple[int, int] | None = None
    tau2: float = 0.0
    tau2_by_criterion: Mapping[str, float] = field(default_factory=dict)
    # Emotions that are shown together, by the group's name. Nothing is tested in them.
    emotion_groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    verdicts: VerdictRule = "majority"  # how votes on a pair of replies become verdicts

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise ValueError(f"The outcome must be one of {', '.join(OUTCOMES)}, not {self.outcome!r}.")

    def tau2_of(self, criterion: str) -> float:
        """
        >>> Plan(tau2=0.5, tau2_by_criterion={"fluency": 2.0}).tau2_of("fluency")
        2.0
        """
        return self.tau2_by_criterion.get(criterion, self.tau2)

    def has_primary(self, first: str, second: str, criterion: str = "") -> bool:
        """Say whether a pair, in either order, is in the primary family.

        >>> Plan(pairs=(("A", "B"),)).has_primary("B", "A"), Plan(pairs=(("A", "B"),)).has_primary("A", "C")
        (True, False)
        """
        if self.criterion and criterion and criterion != self.criterion:
            return False
        return self.pairs is None or (first, second) in self.pairs or (second, first) in self.pairs


def family_of(
    compare: str, generators: Sequence[str], reference: str = "", pairs: Iterable[Sequence[str]] = ()
) -> Pairs | None:
    """Return the primary family as a plan has it, from the words of a study file.

    >>> family_of("one against the others", ["A", "B", "C"], "B")
    (('B', 'A'), ('B', 'C'))
    >>> family_of("all pairs", ["A", "B", "C"]) is None
    True
    """
    if compare == ONE_AGAINST_THE_OTHERS:
        return tuple((reference, other) for other in generators if other != reference)
    if compare == NAMED_PAIRS:
        return tuple((first, second) for first, second in pairs)
    if compare != ALL_PAIRS:
        raise ValueError(f"It must say which pairs are compared, and not {compare!r}.")
    return None
