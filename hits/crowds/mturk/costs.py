"""Computes MTurk's fees: 20 %, or 40 % from ten assignments a HIT on, so that ours have nine at most."""

from hits.crowds.fees import Fees

MOST_ASSIGNMENTS_AT_LOW_FEE = 9


class MTurkFees(Fees):
    """MTurk's fees. Ten or more assignments would double them, so these become several HITs of at most nine.

    >>> MTurkFees().worst_case_cost(40, 10, {4: 600}).total_cents
    144000
    >>> [MTurkFees().split_assignments(count) for count in (4, 10, 20)]
    [[4], [5, 5], [7, 7, 6]]
    """

    most_assignments = MOST_ASSIGNMENTS_AT_LOW_FEE

    def reward_fee_cents(self, reward_cents: int, assignments_per_hit: int) -> int:
        """Return 20 % of the reward, or 40 % if the HIT has ten or more assignments; rounded up, at least a cent."""
        percent = 20 if assignments_per_hit <= MOST_ASSIGNMENTS_AT_LOW_FEE else 40
        return _share_rounded_up(reward_cents, percent)

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        return _share_rounded_up(bonus_cents, 20) if bonus_cents else 0


def _share_rounded_up(cents: int, percent: int) -> int:
    return max(1, -(-cents * percent // 100))
