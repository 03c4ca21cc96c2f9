"""Keeps Prolific's two units of money apart: hundredths (pence, cents), and whole currency (pounds, dollars).

Rewards, costs and balances are hundredths; the amounts in a list of bonuses are whole currency, so that "30" there pays
thirty pounds. Both are types of their own, without arithmetic between them, and each goes over the wire in its own
form: an int, or a text with two decimals. So a mistake of a hundred fails in mypy, and again when the code runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from evalplatform.errors import EvalPlatformError
from hits.models.money import MOST_CENTS, money


class MoneyMixedUp(EvalPlatformError):
    """An amount in the wrong unit or currency. It is a fault of this program, found before anything was sent."""


@dataclass(frozen=True)
class Hundredths:
    """An amount in pence or cents, as rewards and answers have it."""

    count: int
    currency: str

    def __post_init__(self) -> None:
        if type(self.count) is not int or not 0 <= self.count <= MOST_CENTS:
            raise MoneyMixedUp(f"{self.count!r} is no number of pence or cents.")

    def __str__(self) -> str:
        return money(self.count, self.currency)

    @property
    def in_whole_currency(self) -> "WholeCurrency":
        return WholeCurrency(f"{self.count // 100}.{self.count % 100:02}", self.currency)

    def on_wire(self) -> int:
        return self.count


@dataclass(frozen=True)
class WholeCurrency:
    """An amount in pounds or dollars, as the lines of a list of bonuses have it. It is made from `Hundredths` only."""

    amount: str
    currency: str

    def __post_init__(self) -> None:
        whole, point, hundredths = self.amount.partition(".") if isinstance(self.amount, str) else ("", "", "")
        if not (whole.isdecimal() and point and hundredths.isdecimal() and len(hundredths) == 2):
            raise MoneyMixedUp(f"{self.amount!r} is no amount of whole currency with two decimals.")

    def on_wire(self) -> str:
        return self.amount


def sum_of(amounts: Iterable[Hundredths], currency: str) -> Hundredths:
    """Return the sum of amounts in one currency."""
    total = 0
    for one in amounts:
        if not isinstance(one, Hundredths) or one.currency != currency:
            raise MoneyMixedUp(f"{one!r} is no amount of pence or cents in {currency}.")
        total += one.count
    return Hundredths(total, currency)


def hundredths_from(answer: object, currency: str) -> Hundredths:
    """Read an amount of pence or cents from an answer. Some of Prolific's have fractions: those are rounded up."""
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        raise MoneyMixedUp(f"Prolific answered {answer!r} where an amount of money should be.")
    return Hundredths(-int(-answer // 1), currency)
