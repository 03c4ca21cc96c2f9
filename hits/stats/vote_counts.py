"""Defines the wins, losses and ties of two generators that were compared, as votes and as verdicts.

It stands apart from the code that counts them (hits.stats.counting_votes), because web processes have no pandas.
"""

from dataclasses import dataclass, replace

from hits.stats.estimates import Estimate, Interval, Undefined


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
    say. `split` items have no verdict, `unanimous` ones have the same vote from everybody, and `sign_p` is the exact
    sign test's p-value on wins and losses among the verdicts, which is not corrected."""

    dataset: str | None
    first: str
    second: str
    votes: Tally
    verdicts: Tally | Undefined
    split: int
    unanimous: int
    sign_p: float | Undefined

    @property
    def turned(self) -> "PairVotes":
        verdicts = self.verdicts if isinstance(self.verdicts, Undefined) else self.verdicts.turned
        return replace(self, first=self.second, second=self.first, votes=self.votes.turned, verdicts=verdicts)
