"""Computes what assignments cost at most with a crowd's fees, and splits many assignments over several HITs.

Money is integer cents.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """What a number of assignments costs at most, part by part."""

    assignment_count: int
    reward_cents: int
    reward_fee_cents: int
    bonus_cents: int
    bonus_fee_cents: int

    @property
    def total_cents(self) -> int:
        return self.reward_cents + self.reward_fee_cents + self.bonus_cents + self.bonus_fee_cents


class Fees(ABC):
    """A crowd's fees. A subclass provides the two fees and the most assignments a HIT may have; the rest follows."""

    most_assignments: int

    @abstractmethod
    def reward_fee_cents(self, reward_cents: int, assignments_per_hit: int) -> int: ...

    @abstractmethod
    def bonus_fee_cents(self, bonus_cents: int) -> int: ...

    def cents_per_assignment(self, reward_cents: int, bonus_cents: int, assignments_per_hit: int) -> int:
        """Return what an assignment costs at most, with fees: if the worker wins the bonus."""
        fees = self.reward_fee_cents(reward_cents, assignments_per_hit) + self.bonus_fee_cents(bonus_cents)
        return reward_cents + bonus_cents + fees

    def worst_case_cost(self, reward_cents: int, bonus_cents: int, assignments_of_hits: Mapping[int, int]) -> Cost:
        """Return the cost if every worker wins the bonus, for `{assignments a HIT: number of such HITs}`."""
        count = sum(assignments * hits for assignments, hits in assignments_of_hits.items())
        fees = sum(
            assignments * hits * self.reward_fee_cents(reward_cents, assignments)
            for assignments, hits in assignments_of_hits.items()
        )
        return Cost(count, count * reward_cents, fees, count * bonus_cents, count * self.bonus_fee_cents(bonus_cents))

    def split_assignments(self, assignments: int) -> list[int]:
        """Split assignments that exceed one HIT's limit over several HITs of the same dialogs, as evenly as can be."""
        hits = -(-assignments // self.most_assignments)
        smaller, larger_count = divmod(assignments, hits)
        return [smaller + 1] * larger_count + [smaller] * (hits - larger_count)
