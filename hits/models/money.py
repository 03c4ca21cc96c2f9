"""Money as people read and type it. Everywhere else it is integer cents of the study's currency.

A study names its currency in its design (`pay.currency`), and what belongs to the study has the same one: a payment, a
budget, an offering. Nothing is ever converted.
"""

from decimal import Decimal
from typing import Any

from evalplatform.errors import EvalPlatformError

USUAL_CURRENCY = "USD"
MOST_CENTS = 100_000_000_00

# Only currencies whose hundredth is a cent of its own (not JPY, for example), with what is written before an amount.
SIGNS = {
    USUAL_CURRENCY: "$",
    "EUR": "€",
    "GBP": "£",
    "AUD": "AUD ",
    "CAD": "CAD ",
    "CHF": "CHF ",
    "NZD": "NZD ",
}


def money(cents: int, currency: str) -> str:
    """Return an amount as people read it.

    >>> money(123456, "USD"), money(50, "GBP"), money(725, "CHF")
    ('$1,234.56', '£0.50', 'CHF 7.25')
    """
    return f"{SIGNS[currency]}{cents / 100:,.2f}"


def cents_from_amount(value: Any) -> int:
    """Turn "0.40", 0.4 or a Decimal into 40. A float counts as it is written: 0.29 is 29 cents, not 28.999.

    Raises ValueError if it is no amount of whole cents, from nothing to a hundred million.
    """
    try:
        cents = Decimal(str(value)) * 100
    except ArithmeticError:
        cents = Decimal("NaN")
    if not cents.is_finite():
        raise ValueError("is not an amount of money; write it as 0.40")
    if cents != cents.to_integral_value():
        raise ValueError(f"{value} is not a whole number of cents; write it as 0.40")
    if not 0 <= cents <= MOST_CENTS:
        raise ValueError(f"must be between 0 and {MOST_CENTS // 100:,}")
    return int(cents)


def cents_typed(amount: str | None, name: str, currency: str) -> int | None:
    """Return the cents of an amount that a person typed, or None if they typed none. `name` says in the error what it
    was for."""
    if amount is None:
        return None
    try:
        return cents_from_amount(amount)
    except ValueError:
        raise EvalPlatformError(f"{name} is {amount!r}; write an amount in {currency}, as 1500 or 99.50.") from None
