"""What was paid on the marketplace by another hand than ours, and comes into the ledger as found.

In: the bonuses that the marketplace lists for our HITs. Out: Payment rows that are paid, by "found there". Guaranteed:
each is noted once, counts as money spent, and is never paid again: a bonus by hand of the very amount that we owe for
the same assignment settles that debt. (Approvals need no list: the assignment's status tells of them.)
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction

from hits.budgeting import bonus_mark
from hits.crowds import Market, MarketBonus, call_in_threads, crowd_of, fees_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Offering, Payment, Study, Submission

FOUND = "found there"
LOOK_EVERY = timedelta(hours=1)  # unless somebody asks: it takes a call for each HIT

Kind = Payment.Kind
BonusKey = tuple[str, int, datetime]  # of the assignment, cents, when: the marketplace has no ids for bonuses


def note_found_bonuses(offering: Offering, market: Market, now: datetime, is_asked_for: bool) -> int:
    """How many were new to us."""
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
                continue  # of a HIT that was deleted there, nothing more is to be learned
            except MarketUnavailable as error:
                unavailable.append(error)  # the next sync looks again; paying is not kept waiting
        count += _note(offering, found, now)
    if not unavailable:
        looked.update(bonuses_seen_at=now)
    return count


def bonuses_noted_as_found(offering: Offering) -> set[BonusKey]:
    rows = Payment.objects.filter(submission__assignment__offering=offering, paid_by=FOUND).exclude(kind=Kind.REWARD)
    named = rows.values_list("submission__assignment__crowd_assignment_id", "cents", "paid_at")
    return {(assignment, cents, at) for assignment, cents, at in named if at is not None}


def key_of(bonus: MarketBonus) -> BonusKey:
    return bonus.crowd_assignment_id, bonus.cents, bonus.granted_at


def mark_in(reason: str) -> str:
    """The mark by which a bonus of ours is known, or nothing."""
    last = reason.rpartition(" ")[2]
    return last if last in (bonus_mark(Kind.BONUS), bonus_mark(Kind.TOP_UP)) else ""


@transaction.atomic
def _note(offering: Offering, found: Iterable[MarketBonus], now: datetime) -> int:
    """A list may name one twice, when it changed while we read it: a set, not a count."""
    by_key = {key_of(one): one for one in found}
    if not by_key:
        return 0
    Study.objects.select_for_update().get(pk=offering.study_id)  # two runs at once note it once
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
    """True if it was new. One with our mark is our own, whose line in the ledger was lost; else it is somebody's.

    `here`: the kinds that the ledger has for this submission.
    """
    kinds = {bonus_mark(Kind.BONUS): Kind.BONUS, bonus_mark(Kind.TOP_UP): Kind.TOP_UP}
    kind = kinds.get(mark_in(bonus.reason), Kind.EXTRA)
    if kind != Kind.EXTRA and (kind in here or Kind.REWARD not in here):
        return False  # known, or its line is still to be written: paying finds the bonus by its mark
    owed = Payment.objects.owed().filter(submission=submission, cents=bonus.cents, kind__in=(Kind.BONUS, Kind.TOP_UP))
    if kind == Kind.EXTRA and (debt := owed.first()):
        Payment.objects.filter(pk=debt.pk).update(paid_at=bonus.granted_at, paid_by=FOUND, refusal="")
        return True
    Payment.objects.create(
        submission=submission,
        kind=kind,
        cents=bonus.cents,
        fee_cents=fees_of(offering).bonus_fee_cents(bonus.cents),
        reason=bonus.reason,
        intended_at=bonus.granted_at,
        paid_at=bonus.granted_at,
        paid_by=FOUND,
    )
    here.add(kind)
    return True
