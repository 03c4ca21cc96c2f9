"""Defines the wins, losses and ties of two generators that were compared, as votes and as verdicts.

It stands apart from the code that counts them (hits.stats.counting_votes), because web processes have no pandas.
"""

from dataclasses import dataclass, replace
from typing import Literal

from hits.stats.estimates import Estimate, Interval, Undefined

# How votes become verdicts: by more than half of them; by two of the first three, and where all three differ by a
# fourth; or not at all, since each vote counts by itself.
VerdictRule = Literal["majority", "fourth vote", "all votes"]


def share_of_differing(win: float, tie: float, loss: float) -> float:
    """Return the chance that three votes with these chances all differ, and a fourth is needed.

    >>> round(share_of_differing(0.4, 0.3, 0.3), 3)
    0.216
    """
    return 6 * win * tie * loss


@dataclass(frozen=True)
class Tally:
    """How often the first generator won, lost and tied. `net` is (wins - losses) / all, and `points` is (wins + half
    the ties) / all."""

    wins: int
    losses: int
    ties: int
    win_share: Estimate
    loss_share: Estimate
    tie_share: Estimate
    net: Estimate
    net_error: float | Undefined
    points: float

    @property
    def count(self) -> int:
        return self.wins + self.losses + self.ties

    @property
    def turned(self) -> "Tally":
        """The same, seen from the second generator."""
        interval = self.net.interval
        if isinstance(interval, Interval):
            interval = Interval(0 - interval.high, 0 - interval.low)
        return replace(
            self,
            wins=self.losses,
            losses=self.wins,
            win_share=self.loss_share,
            loss_share=self.win_share,
            net=Estimate(0 - self.net.value, interval),
            points=1 - self.points,
        )


@dataclass(frozen=True)
class PairVotes:
    """What was said of two generators. A vote is one worker's; a verdict is what more than half of the votes on an item
    say, or by another rule what a fourth vote decides. `split` items have no verdict, `unanimous` ones have the same
    vote from everybody, and `differing` ones needed a fourth vote. `sign_p` is the exact sign test's p-value on wins
    and losses among the verdicts, which is not corrected."""

    dataset: str | None
    first: str
    second: str
    votes: Tally
    verdicts: Tally | Undefined
    split: int
    unanimous: int
    sign_p: float | Undefined
    differing: int = 0  # only where the rule asks for a fourth vote
    rule: VerdictRule = "majority"

    @property
    def turned(self) -> "PairVotes":
        verdicts = self.verdicts if isinstance(self.verdicts, Undefined) else self.verdicts.turned
        return replace(self, first=self.second, second=self.first, votes=self.votes.turned, verdicts=verdicts)
