"""What Mechanical Turk charges on top of what workers get. Money is integer cents."""

from dataclasses import dataclass

MOST_ASSIGNMENTS_AT_LOW_FEE = 9


def reward_fee_cents(reward_cents: int, assignments_per_hit: int) -> int:
    """20 % of the reward, 40 % where a HIT has ten or more assignments; at least a cent, fractions rounded up."""
    percent = 20 if assignments_per_hit <= MOST_ASSIGNMENTS_AT_LOW_FEE else 40
    return _share_rounded_up(reward_cents, percent)


def bonus_fee_cents(bonus_cents: int) -> int:
    return _share_rounded_up(bonus_cents, 20) if bonus_cents else 0


def _share_rounded_up(cents: int, percent: int) -> int:
    return max(1, -(-cents * percent // 100))


def split_assignments(assignments: int) -> list[int]:
    """Ten and more would double the fee, so they become several HITs of at most nine, as even as possible.

    >>> split_assignments(4), split_assignments(10), split_assignments(20)
    ([4], [5, 5], [7, 7, 6])
    """
    hits = -(-assignments // MOST_ASSIGNMENTS_AT_LOW_FEE)
    smaller, larger_count = divmod(assignments, hits)
    return [smaller + 1] * larger_count + [smaller] * (hits - larger_count)


@dataclass(frozen=True)
class Cost:
    """What a number of assignments costs at most."""

    assignment_count: int
    reward_cents: int
    reward_fee_cents: int
    bonus_cents: int
    bonus_fee_cents: int

    @property
    def total_cents(self) -> int:
        return self.reward_cents + self.reward_fee_cents + self.bonus_cents + self.bonus_fee_cents


def cents_per_assignment(reward_cents: int, bonus_cents: int, assignments_per_hit: int) -> int:
    """At most, with fees: if the worker wins the bonus."""
    fees = reward_fee_cents(reward_cents, assignments_per_hit) + bonus_fee_cents(bonus_cents)
    return reward_cents + bonus_cents + fees


def worst_case_cost(reward_cents: int, bonus_cents: int, assignments_of_hits: dict[int, int]) -> Cost:
    """For `{assignments a HIT: number of such HITs}`, if every worker wins the bonus.

    >>> worst_case_cost(40, 10, {4: 600}).total_cents
    144000
    """
    count = sum(assignments * hits for assignments, hits in assignments_of_hits.items())
    fees = sum(
        assignments * hits * reward_fee_cents(reward_cents, assignments)
        for assignments, hits in assignments_of_hits.items()
    )
    return Cost(count, count * reward_cents, fees, count * bonus_cents, count * bonus_fee_cents(bonus_cents))
