"""Counts what one run of paying did."""

from dataclasses import dataclass

from hits.crowds import Met
from hits.models import Payment

OUR_CALL = "our call"
ELSEWHERE = "elsewhere"


@dataclass
class Paid(Met):
    """What one run of `pay` did."""

    rewards: int = 0
    bonuses: int = 0
    found: int = 0  # already paid there: approved automatically, or paid by a run that was killed
    ordered: int = 0  # bonuses that a crowd was told to pay, and does not show yet
    cents: int = 0  # with fees
    due_elsewhere: int = 0  # rewards and bonuses that the crowd does not pay, and that are on the list now
    due_cents: int = 0
    is_by_crowd: bool = True  # False if no money goes through it

    def count(self, payment: Payment, is_found: bool) -> None:
        if payment.kind == Payment.Kind.REWARD:
            self.rewards += 1
        else:
            self.bonuses += 1
        self.found += is_found
        self.cents += payment.cents + payment.fee_cents
