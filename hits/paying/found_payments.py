"""Finds bonuses that somebody paid on the marketplace by hand, and writes them to the ledger.

In: the bonuses that the marketplace lists for our HITs. Out: paid Payment rows, marked "found there". Guaranteed: each
is noted once, counts as money spent, and is never paid again: if somebody paid exactly the bonus that we owe for an
assignment, that settles the debt. (Approvals need no such list: the assignment's status shows them.)
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from evalplatform.wording import count_of
from hits.budgeting import bonus_mark
from hits.crowds import Market, MarketBonus, call_in_threads, crowd_of, fees_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Offering, Payment, Study, Submission
from hits.paying.paid import OUR_CALL

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


def given_by_hand(offering: Offering, listed: Sequence[MarketBonus], noted: Collection[BonusKey]) -> list[MarketBonus]:
    """Return the listed bonuses that somebody gave by hand and the ledger does not have yet. `noted` are those that it
    has.

    Where the crowd stores no reasons, any bonus on the list may be our own. So we compare numbers: what is listed for
    an assignment beyond what the ledger has paid in the same amount is new. If a bonus is not on the list yet, we may
    find one too few, but never our own twice. Read the list first: what another run pays in between must be in the
    ledger when we compare.
    """
    if crowd_of(offering).abilities.stores_reasons:
        # By key, since a list that changed while we read it may name a bonus twice.
        by_key = {key_of(one): one for one in listed if not our_mark_in(one.reason)}
        return [by_key[key] for key in sorted(set(by_key) - set(noted))]
    ledger = Payment.objects.paid().filter(submission__assignment__offering=offering).exclude(kind=Kind.REWARD)
    explained = Counter(ledger.values_list("submission__assignment__crowd_assignment_id", "cents"))
    new = []
    for one in sorted(listed, key=key_of):
        if explained[key_of(one)[:2]] > 0:
            explained[key_of(one)[:2]] -= 1
        else:
            new.append(one)
    return new


def key_of(bonus: MarketBonus) -> BonusKey:
    return bonus.crowd_assignment_id, bonus.cents, bonus.granted_at


def our_mark_in(reason: str) -> str:
    """Return the mark at the end of a reason if we sent this bonus, and "" if somebody else did."""
    last = reason.rpartition(" ")[2]
    return last if last in (bonus_mark(Kind.BONUS), bonus_mark(Kind.TOP_UP)) else ""


@transaction.atomic
def _note_new(offering: Offering, found: Iterable[MarketBonus], now: datetime) -> int:
    """Write the bonuses that the ledger doesn't have yet, and return how many there were."""
    listed = list(found)
    if not listed:
        return 0
    Study.objects.select_for_update().get(pk=offering.study_id)  # of two runs at once, only one notes it
    noted = bonuses_noted_as_found(offering)
    marked = {key_of(one): one for one in listed if our_mark_in(one.reason) and key_of(one) not in noted}
    new = sorted([*marked.values(), *given_by_hand(offering, listed, noted)], key=key_of)
    of_study = Submission.objects.filter(assignment__offering=offering)
    named = of_study.filter(assignment__crowd_assignment_id__in={one.crowd_assignment_id for one in new})
    submissions = {one.assignment.crowd_assignment_id: one for one in named.select_related("assignment")}
    kinds: dict[int, set[str]] = {}
    for submission, kind in Payment.objects.filter(submission__in=named).values_list("submission", "kind"):
        kinds.setdefault(submission, set()).add(kind)
    count = 0
    for bonus in new:
        if (one := submissions.get(bonus.crowd_assignment_id)) is not None:
            count += _note_one(offering, one, kinds.setdefault(one.pk, set()), bonus)
    if count:
        bonuses = count_of(count, "bonus", "bonuses")
        text = f"found {bonuses} on the {offering.marketplace} market that nobody gave here"
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
    # What was ordered goes first. (Without saying so, SQLite would put it last, and PostgreSQL first.)
    if kind == Kind.EXTRA and (debt := owed.order_by(F("bonus_list").asc(nulls_last=True), "pk").first()):
        # What was ordered with a list of ours is our own payment, seen at last.
        paid_by = OUR_CALL if debt.bonus_list_id else FOUND_ON_MARKET
        Payment.objects.filter(pk=debt.pk).update(paid_at=bonus.granted_at, paid_by=paid_by, refusal="")
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
