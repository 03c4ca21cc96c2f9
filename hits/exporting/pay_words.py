"""Says what an assignment paid and what an hour of it is worth, as far as this platform knows it.

Money moves only through a crowd that pays, in its real environment. Elsewhere the ledger counts what was due (on the
marketplace here), or lists what the researchers owe (where people come by a link), and nobody here knows whether it was
paid. A text never says of these that anyone received money.
"""

from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.exporting.bundle_facts import Minutes, MoneyMoves, Sources, join_names
from hits.exporting.to_fill_in import PLAIN_TO_FILL_IN
from hits.models import Payment
from hits.models.money import money

NAMES = {Payment.Kind.BONUS: ("bonus", "bonuses"), Payment.Kind.EXTRA: ("bonus by hand", "bonuses by hand")}
WHETHER_PAID = f"Whether and how it was paid: {PLAIN_TO_FILL_IN}."


def is_unpaid(sources: Sources) -> bool:
    pay = sources.design.pay
    paid = [sources.facts.paid, *(one.paid for one in sources.facts.parts)]
    return not pay.reward_cents and not pay.bonus_cents and not any(paid)


def describe_pay(sources: Sources) -> Iterator[str]:
    """Yield what an assignment paid, bonuses and sums."""
    if is_unpaid(sources):
        yield "The study did not pay workers."  # who sent them may have, by credit for a course
    elif sources.facts.money is MoneyMoves.THERE:
        yield from _paid_there(sources)
    else:
        yield from _due(sources)


def _paid_there(sources: Sources) -> Iterator[str]:
    pay, currency, facts = sources.design.pay, sources.design.pay.currency, sources.facts
    bonus = facts.paid_for(Payment.Kind.BONUS)
    yield f"An assignment paid {money(pay.reward_cents, currency)} (all amounts are in {currency})."
    if pay.bonus_cents:
        yield (
            f"A bonus of {money(pay.bonus_cents, currency)} for {count_of(pay.bonus_points, 'bonus point')} was "
            f"{f'paid {times(bonus.count)}' if bonus.count else 'never paid'}."
        )
    if (top_up := facts.paid_for(Payment.Kind.TOP_UP)).count:
        for_work = count_of(top_up.count, "assignment")
        yield f"Top-ups of {money(top_up.cents, currency)} in all were paid for {for_work}."
    if not facts.paid:
        yield "Nothing has been paid so far."
        return
    total, fees = sum(one.cents for one in facts.paid), sum(one.fee_cents for one in facts.paid)
    received, kept = money(total, currency), money(fees, currency)
    yield f"In total, workers received {received}, and the marketplace {kept} in fees."


def _due(sources: Sources) -> Iterator[str]:
    """Yield what was promised and is due. Nobody here knows whether it was paid."""
    pay, currency, facts = sources.design.pay, sources.design.pay.currency, sources.facts
    points = count_of(pay.bonus_points, "bonus point")
    bonus = f", and {money(pay.bonus_cents, currency)} more for {points}" if pay.bonus_cents else ""
    yield (
        f"The design promised {money(pay.reward_cents, currency)} for an assignment{bonus} (all amounts are in "
        f"{currency})."
    )
    total = money(sum(one.cents for one in facts.paid), currency)
    counts = join_names([count_of(one.count, *NAMES.get(Payment.Kind(one.kind), (one.kind,))) for one in facts.paid])
    due = f"{total} was due in all ({counts})" if facts.paid else "nothing is due so far"
    if facts.money is MoneyMoves.NOWHERE:
        yield f"The marketplace moved no money; by its count, {due}. {WHETHER_PAID}"
    else:
        yield f"It was to be paid outside of the platform: {due}. {WHETHER_PAID}"


def hourly(sources: Sources, minutes: Minutes) -> str:
    """Say what the reward pays for an hour of the median worker's time; "" if there is no reward."""
    if not minutes.hourly_cents:
        return ""
    amount = money(minutes.hourly_cents, sources.design.pay.currency)
    would = "amounted" if sources.facts.money is MoneyMoves.THERE else "would amount"
    return f"the reward alone {would} to {amount} per hour"


def times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number:,} times")
