"""Computes what Prolific takes on top of rewards and bonuses: its fee, and VAT on the fee.

Prolific says 33.3 % for academic accounts and 42.8 % for companies; which of them an account pays, and whether VAT
comes on top, only Prolific knows. So budgets reckon with the higher fee and VAT unless the settings say otherwise, and
publishing compares with Prolific's own calculator.
"""

from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from hits.crowds.fees import Fees


class ProlificFees(Fees):
    """Fee and VAT are both rounded up for each payment, so that the sum is never reckoned too low.

    >>> from django.test import override_settings
    >>> with override_settings(PROLIFIC_FEE_PERCENT=33.3, PROLIFIC_VAT_PERCENT=20):
    ...     ProlificFees().reward_fee_cents(150, 4), ProlificFees().bonus_fee_cents(10)
    (60, 5)
    """

    most_assignments = 90  # as many as a design may ask for: the fee does not depend on it

    def reward_fee_cents(self, reward_cents: int, assignments_per_hit: int) -> int:
        return _fee_and_tax(reward_cents)

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        return _fee_and_tax(bonus_cents)


def _fee_and_tax(cents: int) -> int:
    fee = _share(cents, settings.PROLIFIC_FEE_PERCENT)
    return fee + _share(fee, settings.PROLIFIC_VAT_PERCENT)


def _share(cents: int, percent: float) -> int:
    return int((cents * Decimal(str(percent)) / 100).to_integral_value(ROUND_CEILING))
