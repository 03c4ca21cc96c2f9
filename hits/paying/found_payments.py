"""Finds bonuses that somebody paid on the marketplace by hand, and writes them to the ledger.

In: the bonuses that the marketplace lists for our HITs. Out: paid Payment rows, marked "found there". Guaranteed: each
is noted once, counts as money spent, and is never paid again: if somebody paid exactly the bonus that we owe for an
assignment, that settles the debt. (Approvals need no such list: the assignment's status shows them.)
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from hits.budgeting import bonus_mark
from hits.crowds import Market, MarketBonus, call_in_threads, crowd_of, fees_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Offering, Payment, Study, Submission

FOUND_ON_MARKET = "found there"
LOOK_EVERY = timedelta(hours=1)  # unless somebody asks for it: looking takes one call for each HIT

Kind = Payment.Kind
# The assignment's id, the cents and the time: the marketplace has no ids for bonuses.
BonusKey = tuple[str, int, datetime]


def note_found_bonuses(offering: Offering, market: Market, now: datetime, is_asked_for: bool) -> int:
    """Note the bonuses that were paid by hand, and return how many of them are new to us."""
    if not crowd_of(offering).abilities.can_pay_bonuses:
        return 0
    looked = Offering.objects.filter(pk=offering.pk)
    if not is_asked_for and looked.filter(bonuses_seen_at__gt=now - LOOK_EVERY).exists():
        return 0
    submissions = Submission.objects.filter(assignment__offering=offering)
    hits = submissions.exclude(crowd_hit_id="").order_by().values_list("crowd_hit_id", flat=True).distinct()
    count = 0
    unavailable: list[MarketUnavailable] = []

    def ask(crowd_hit_id: str) -> list[MarketBonus]:
        return list(market.list_bonuses_of_hit(crowd_hit_id))

    threads = crowd_of(offering).abilities.calls_at_once
    for outcomes in call_in_threads(ask, list(hits), threads, lambda: not unavailable):
        found: list[MarketBonus] = []
        for _, outcome in outcomes:
            try:
                found += outcome.result()
            except MarketRefused:
                continue  # the HIT was deleted there, so there is nothing more to learn about it
            except MarketUnavailable as error:
                unavailable.append(error)  # the next sync looks again; payments don't wait for this
        count += _note_new(offering, found, now)
    if not unavailable:
        looked.update(bonuses_seen_at=now)
    return count


def bonuses_noted_as_found(offering: Offering) -> set[BonusKey]:
    rows = Payment.objects.filter(submission__assignment__offering=offering, paid_by=FOUND_ON_MARKET).exclude(
        kind=Kind.REWARD
    )
    named = rows.values_list("submission__assignment__crowd_assignment_id", "cents", "paid_at")
    return {(assignment, cents, at) for assignment, cents, at in named if at is not None}


def key_of(bonus: MarketBonus) -> BonusKey:
    return bonus.crowd_assignment_id, bonus.cents, bonus.granted_at


def our_mark_in(reason: str) -> str:
    """Return the mark at the end of a reason if we sent this bonus, and "" if somebody else did."""
    last = reason.rpartition(" ")[2]
    return last if last in (bonus_mark(Kind.BONUS), bonus_mark(Kind.TOP_UP)) else ""


@transaction.atomic
def _note_new(offering: Offering, found: Iterable[MarketBonus], now: datetime) -> int:
    """Write the bonuses that the ledger doesn't have yet, and return how many there were."""
    # By key, since a list that changed while we read it may name a bonus twice.
    by_key = {key_of(one): one for one in found}
    if not by_key:
        return 0
    Study.objects.select_for_update().get(pk=offering.study_id)  # of two runs at once, only one notes it
    new = sorted(set(by_key) - bonuses_noted_as_found(offering))
    of_study = Submission.objects.filter(assignment__offering=offering)
    named = of_study.filter(assignment__crowd_assignment_id__in={key[0] for key in new})
    submissions = {one.assignment.crowd_assignment_id: one for one in named.select_related("assignment")}
    kinds: dict[int, set[str]] = {}
    for submission, kind in Payment.objects.filter(submission__in=named).values_list("submission", "kind"):
        kinds.setdefault(submission, set()).add(kind)
    count = 0
    for key in new:
        if (one := submissions.get(key[0])) is not None:
            count += _note_one(offering, one, kinds.setdefault(one.pk, set()), by_key[key])
    if count:
        bonuses = f"{count:,} bonus{'es' if count > 1 else ''}"
        text = f"found {bonuses} on the {offering.place} market that nobody gave here"
        Event.objects.create(study=offering.study, at=now, actor=None, text=text)
    return count


def _note_one(offering: Offering, submission: Submission, here: set[str], bonus: MarketBonus) -> bool:
    """Write one bonus to the ledger, and return True if it was new.

    A bonus with our mark is our own, and its ledger line was lost (a restored database); any other was given by hand.
    `here` has the kinds of payment that the ledger already has for this submission.
    """
    kinds = {bonus_mark(Kind.BONUS): Kind.BONUS, bonus_mark(Kind.TOP_UP): Kind.TOP_UP}
    kind = kinds.get(our_mark_in(bonus.reason), Kind.EXTRA)
    if kind != Kind.EXTRA and (kind in here or Kind.REWARD not in here):
        return False  # we know it, or its line is about to be written: paying will find the bonus by its mark
    owed = Payment.objects.owed().filter(submission=submission, cents=bonus.cents, kind__in=(Kind.BONUS, Kind.TOP_UP))
    if kind == Kind.EXTRA and (debt := owed.first()):
        Payment.objects.filter(pk=debt.pk).update(paid_at=bonus.granted_at, paid_by=FOUND_ON_MARKET, refusal="")
        return True
    Payment.objects.create(
        submission=submission,
        kind=kind,
        cents=bonus.cents,
        fee_cents=fees_of(offering).bonus_fee_cents(bonus.cents),
        reason=bonus.reason,
        intended_at=bonus.granted_at,
        paid_at=bonus.granted_at,
        paid_by=FOUND_ON_MARKET,
    )
    here.add(kind)
    return True
