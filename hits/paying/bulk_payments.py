"""Pays where a crowd takes approvals in bulk, and bonuses by lists that must never be ordered twice.

In: owed payments. Out: paid ones, as far as the crowd shows them. Guaranteed: a bonus is ordered once, although the
order can't be repeated, its answer may be lost, and what it paid is seen only minutes later. Before an order there are
four steps, each saved before the next: the list as an intent, its id there, a note at the crowd itself for whom it is,
and the claim of its payments. Whoever has a claim here or a note there is never ordered for again: only what the crowd
shows to have been paid, or a person, settles that. So nothing is paid twice even if this process is killed between any
two steps, if two run at once, or if the database is restored to an earlier state.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from hits.crowds import BonusToPay, BulkMarket, carry_out, crowd_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import BonusList, Offering, Payment, Submission
from hits.paying.found_payments import FOUND_ON_MARKET
from hits.paying.paid import OUR_CALL, Paid

Kind = Payment.Kind
Status = Submission.Status

SHOWN_WITHIN = timedelta(hours=24)  # after which a person is asked to look
NOT_SHOWN = "It was ordered with list {list} on {at:%d %b %Y at %H:%M} UTC."
ANSWER_LOST = (
    "It was ordered with list {list} on {at:%d %b %Y at %H:%M} UTC, and the answer was lost ({answer}): asking again "
    "might pay twice. It may still appear."
)
ASKED_ELSEWHERE = (
    "A group of the workspace says that this was about to be ordered, and this database does not know whether it was: "
    "the server was stopped just then, the database was restored, or another installation works on the same study. The "
    "crowd does not show it yet."
)
LOOK_THERE = (
    " It has not appeared for a day. Look at the submission there; if it is not paid, pay it there by hand, and the "
    "next sync finds it."
)


def pay_in_bulk(
    offering: Offering, market: BulkMarket, owed: Sequence[Payment], now: Callable[[], datetime], result: Paid
) -> None:
    """Approve in bulk, settle what was ordered before, and order what is due."""
    try:
        with market.paying_alone():
            owed = _without_unearned(owed, now())
            _approve(market, [one for one in owed if one.kind == Kind.REWARD], now(), result)
            _withdraw_refused(offering, market)
            bonuses = [one for one in owed if one.kind != Kind.REWARD]
            free = _settle(market, _read_again(bonuses), now(), result)
            size = crowd_of(offering).abilities.bonuses_per_list
            for start in range(0, len(free), size):
                _order(offering, market, free[start : start + size], now, result)
    except (MarketRefused, MarketUnavailable) as error:
        result.note(error)


def _without_unearned(owed: Sequence[Payment], now: datetime) -> list[Payment]:
    """Cancel what is owed for work that was rejected or given back there, unless its bonus was asked for already."""
    unearned = [one for one in owed if one.submission.status in Submission.EARNS_NOTHING]
    for one in unearned:
        free = Payment.objects.filter(pk=one.pk, paid_at=None)
        if one.kind != Kind.REWARD:
            free = free.filter(sending_at=None)
        free.update(cancelled_at=now, refusal=f"{one.submission.status.lower()} on the marketplace")
    return [one for one in owed if one not in unearned or (one.kind != Kind.REWARD and one.sending_at)]


# --- Rewards ---------------------------------------------------------------------------------------------------------


def _approve(market: BulkMarket, rewards: Sequence[Payment], now: datetime, result: Paid) -> None:
    """Approve all at once. If the crowd refuses the lot, ask one by one, so that one odd submission stops nobody."""
    known = [one for one in rewards if one.submission.status == Status.APPROVED]
    _note_paid(known, now, result)
    waiting = {_id_of(one): one for one in rewards if one.submission.status != Status.APPROVED}
    if not waiting:
        return
    Payment.objects.filter(pk__in=[one.pk for one in waiting.values()], paid_at=None).update(sending_at=now)
    try:
        approved = market.approve_all(list(waiting))
    except MarketRefused as refused:
        if refused.is_about_account:
            raise
        approved = _approve_one_by_one(market, waiting, result)
    for one in waiting.values():
        one.sending_at = now
    done = [one for key, one in waiting.items() if key in approved]
    Submission.objects.filter(pk__in=[one.submission_id for one in done]).update(status=Status.APPROVED)
    _note_paid(done, now, result)


def _approve_one_by_one(market: BulkMarket, waiting: dict[str, Payment], result: Paid) -> set[str]:
    approved = set()
    for key, payment in waiting.items():
        try:
            market.approve(key)
        except MarketRefused as refused:
            status = _status_of(market, key)
            if status == Status.APPROVED:
                approved.add(key)
            elif status in Submission.EARNS_NOTHING:
                Payment.objects.filter(pk=payment.pk, paid_at=None).update(
                    cancelled_at=payment.sending_at or payment.intended_at,
                    refusal=f"{status.lower()} on the marketplace",
                )
                Submission.objects.filter(pk=payment.submission_id).update(status=status)
            else:
                Payment.objects.filter(pk=payment.pk, paid_at=None).update(refusal=str(refused))
            result.note(refused)
        else:
            approved.add(key)
    return approved


def _status_of(market: BulkMarket, assignment_id: str) -> str:
    try:
        return market.get_assignment(assignment_id).status
    except MarketRefused:
        return ""


def _note_paid(payments: Sequence[Payment], now: datetime, result: Paid) -> None:
    """Note payments as made. Those that we asked for are ours, also if another run is told so."""
    for one in payments:
        paid_by = OUR_CALL if one.sending_at else FOUND_ON_MARKET
        if Payment.objects.filter(pk=one.pk, paid_at=None).update(paid_at=now, paid_by=paid_by, refusal=""):
            result.count(one, paid_by == FOUND_ON_MARKET)


# --- Bonuses: what was ordered before --------------------------------------------------------------------------------


def _withdraw_refused(offering: Offering, market: BulkMarket) -> None:
    """Free the payments of lists whose order was surely refused: first the note at the crowd, then the claim here."""
    for one in BonusList.objects.filter(offering=offering).to_withdraw():
        payments = list(one.payments.filter(paid_at=None).select_related("submission__assignment"))
        market.withdraw_asking([_to_pay(payment) for payment in payments])
        Payment.objects.filter(bonus_list=one, paid_at=None).update(
            sending_at=None, bonus_list=None, refusal=f"The order was refused: {one.answer}"
        )
        one.payments.exclude(paid_at=None).update(bonus_list=None)


def _read_again(payments: Sequence[Payment]) -> list[Payment]:
    """Return the payments as they are now: another run may have ordered or paid them while we waited for it."""
    rows = Payment.objects.owed().filter(pk__in=[one.pk for one in payments])
    return list(rows.select_related("submission__assignment", "bonus_list").order_by("pk"))


def _settle(market: BulkMarket, owed: Sequence[Payment], now: datetime, result: Paid) -> list[Payment]:
    """Note what the crowd shows as paid. Return what was never asked for, at most one payment for an assignment."""
    shown = Counter((one.crowd_assignment_id, one.cents) for one in market.list_bonuses_of(_ids_of(owed)))
    # Read after the list: what the ledger has paid by now explains as many of the listed bonuses.
    paid = Payment.objects.paid().filter(submission__in=[one.submission_id for one in owed]).exclude(kind=Kind.REWARD)
    shown.subtract(Counter(paid.values_list("submission__assignment__crowd_assignment_id", "cents")))
    free: dict[str, Payment] = {}
    in_doubt = set()
    for one in sorted(owed, key=lambda payment: (payment.sending_at is None, payment.pk)):
        key = _id_of(one)
        if shown[key, one.cents] > 0:
            shown[key, one.cents] -= 1
            _note_paid([one], now, result)
        elif one.sending_at is not None:
            in_doubt.add(key)
            _say_where_it_is(one, now)
        elif one.submission.status == Status.APPROVED:  # a bonus before the approval may be refused
            free.setdefault(key, one)
    # While one is in doubt, a second of the same amount could not be told from it.
    ready = [one for key, one in free.items() if key not in in_doubt]
    asked = set(market.asked_before([_to_pay(one) for one in ready])) if ready else set()
    for one in ready:
        if _to_pay(one) in asked:
            claim = Payment.objects.filter(pk=one.pk, paid_at=None, sending_at=None)
            claim.update(sending_at=now, refusal=ASKED_ELSEWHERE)
    return [one for one in ready if _to_pay(one) not in asked]


def _say_where_it_is(payment: Payment, now: datetime) -> None:
    """Tell a person what we know of an order that the crowd does not show."""
    since = payment.sending_at or now
    listed = payment.bonus_list
    if listed is None:
        text = ASKED_ELSEWHERE
    elif listed.ordered_at is not None and now - since <= SHOWN_WITHIN:
        text = ""  # all is well: the crowd shows it within minutes as a rule
    elif listed.ordered_at is not None:
        text = NOT_SHOWN.format(list=listed.crowd_list_id, at=listed.ordered_at)
    else:
        answer = listed.answer or "this server was stopped"
        text = ANSWER_LOST.format(list=listed.crowd_list_id, at=since, answer=answer)
    text += LOOK_THERE if now - since > SHOWN_WITHIN else ""
    Payment.objects.filter(pk=payment.pk, paid_at=None).update(refusal=text)


# --- Bonuses: an order -----------------------------------------------------------------------------------------------


def _order(
    offering: Offering, market: BulkMarket, payments: Sequence[Payment], now: Callable[[], datetime], result: Paid
) -> None:
    if result.stopped_by is not None:
        return
    bonuses = [_to_pay(one) for one in payments]
    row = BonusList.objects.create(offering=offering, cents=sum(one.cents for one in bonuses), intended_at=now())
    try:
        made = market.create_bonus_list(bonuses)
    except MarketRefused as refused:
        if refused.is_about_account:
            raise
        _order_in_parts(offering, market, payments, now, result, refused)
        return
    BonusList.objects.filter(pk=row.pk).update(crowd_list_id=made.list_id, total_cents=made.total_cents)
    market.note_asking(bonuses)
    if not _claim(row, payments, now()):
        return  # another run has them; its claims are as good as ours
    this = BonusList.objects.filter(pk=row.pk)

    def save(_: str, __: None) -> None:
        this.update(ordered_at=now())
        result.ordered += Payment.objects.filter(bonus_list=row, paid_at=None).count()

    def save_refusal(_: str, refused: MarketRefused) -> None:
        this.update(refused_at=now(), answer=str(refused))

    for _ in carry_out([made.list_id], market.pay_bonus_list, save, result, 1, save_refusal):
        pass
    if isinstance(result.stopped_by, MarketUnavailable):
        this.filter(ordered_at=None, refused_at=None).update(answer=str(result.stopped_by))
        for one in _read_again(payments):
            _say_where_it_is(one, now())
    _withdraw_refused(offering, market)


def _order_in_parts(
    offering: Offering,
    market: BulkMarket,
    payments: Sequence[Payment],
    now: Callable[[], datetime],
    result: Paid,
    refused: MarketRefused,
) -> None:
    """Halve a list that was refused, so that one line of it stops nobody else. Nothing of it was ordered."""
    if len(payments) == 1:
        Payment.objects.filter(pk=payments[0].pk, paid_at=None).update(refusal=str(refused))
        result.note(refused)
        return
    middle = len(payments) // 2
    for part in (payments[:middle], payments[middle:]):
        _order(offering, market, part, now, result)


@transaction.atomic
def _claim(row: BonusList, payments: Sequence[Payment], now: datetime) -> bool:
    """Claim all of these payments for the list, or none. From now on they may be paid, and are never ordered again."""
    free = Payment.objects.filter(pk__in=[one.pk for one in payments], sending_at=None, paid_at=None, cancelled_at=None)
    if free.update(sending_at=now, bonus_list=row, refusal="") < len(payments):
        transaction.set_rollback(True)
        return False
    BonusList.objects.filter(pk=row.pk, paying_at=None).update(paying_at=now)
    return True


def _to_pay(payment: Payment) -> BonusToPay:
    who = payment.submission.assignment
    return BonusToPay(who.crowd_assignment_id, who.crowd_worker_id, payment.kind, payment.cents)


def _id_of(payment: Payment) -> str:
    return payment.submission.assignment.crowd_assignment_id


def _ids_of(payments: Sequence[Payment]) -> list[str]:
    return list(dict.fromkeys(map(_id_of, payments)))
