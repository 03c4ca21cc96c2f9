"""Hold the requester's money for open HITs, pay it on approval, and refuse what the balance does not cover.

AWS says only that approving and granting a bonus fail without funds, and that CreateHIT may. We chose this: a HIT holds
reward and fee of every assignment that may still have to be paid. The hold ends with a rejection, with the payment, or
when the HIT expires and nobody took the assignment. So an approval is always covered, all work on offer can be paid,
and the available balance is left for new HITs and bonuses.

Each change is one conditional UPDATE, so that two calls at once can't spend the same cent.
"""

from django.db.models import F

from hits.crowds.mturk.costs import MTurkFees
from localturk.errors import insufficient_funds
from localturk.models import Account, TurkHit


def get_account() -> Account:
    return Account.objects.get_or_create(pk=1)[0]


def cost_cents(hit: TurkHit) -> int:
    """Return what one assignment costs: the reward and its fee."""
    reward_cents = hit.hit_type.reward_cents
    return reward_cents + MTurkFees().reward_fee_cents(reward_cents, hit.max_assignments)


def hold(cents: int) -> None:
    _change_account(needed_cents=cents, held_cents=F("held_cents") + cents)


def release(cents: int) -> None:
    _change_account(needed_cents=0, held_cents=F("held_cents") - cents)


def pay_held(cents: int) -> None:
    _change_account(needed_cents=0, held_cents=F("held_cents") - cents, balance_cents=F("balance_cents") - cents)


def pay(cents: int) -> None:
    _change_account(needed_cents=cents, balance_cents=F("balance_cents") - cents)


def _change_account(needed_cents: int, **changes: object) -> None:
    covered = Account.objects.filter(pk=1, balance_cents__gte=F("held_cents") + needed_cents)
    if covered.update(**changes):
        return
    get_account()  # makes the row, which is missing at the very first change
    if not covered.update(**changes):
        raise insufficient_funds()
