"""Compares what a study has cost, owes and may still cost with its budget, and refuses what would exceed it.

What comes in: the ledger, the confirmed submissions, what is on offer, and two caps: the budget of the design, which
all offerings with real raters share, and the one typed for one offering since (`set_cap`). What goes out: cents, with
the marketplace's fees. What is guaranteed: it is the worst case, so what passes `refuse_over_budget` never brings a
study above either cap, whoever wins which bonus. Late work beyond all places counts only where it fits: the rest waits
for a person, who may pay it above the cap.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.budgeting.amounts_due import dues, submissions_without_dues
from hits.budgeting.places import UnfilledPlaces, open_places
from hits.budgeting.undecided import held_back, undecided_late_work
from hits.crowds import crowd_of, fees_of, has_real_raters
from hits.models import Event, Offering, Payment, SpendingCap, Study, Submission
from hits.models.design import StudyDesign
from hits.models.money import USUAL_CURRENCY, money


class OverBudget(EvalPlatformError):
    """It could cost more than the budget allows. Nothing was spent."""


class CapChanged(EvalPlatformError):
    """Somebody has typed another budget since this one was shown."""


@dataclass(frozen=True)
class Budget:
    """The money of a study on one marketplace. All amounts but the cap include fees."""

    # The lower of the two caps: the typed one, and what other offerings leave of the design's. None if there is none.
    cap_cents: int | None
    spent_cents: int  # paid
    owed_cents: int  # for confirmed work that is not paid yet, including bonuses won
    open_cents: int  # at most, for what is on offer or being worked on
    currency: str = field(default=USUAL_CURRENCY, kw_only=True)
    waiting_cents: int = 0  # at most, for work that waits for a person's decision
    elsewhere_cents: int = 0  # of the design's budget, what other offerings have spent or may still spend
    is_cap_typed: bool = field(
        default=False, compare=False
    )  # whether it was typed for this marketplace; if not, it is the design's

    @property
    def committed_cents(self) -> int:
        """Return all that was spent, is owed, or may still have to be paid."""
        return self.spent_cents + self.owed_cents + self.open_cents + self.waiting_cents

    @property
    def left_cents(self) -> int | None:
        """Return what may still be offered. It is negative if the study was published above its present budget."""
        return None if self.cap_cents is None else self.cap_cents - self.committed_cents


def budget_of(offering: Offering, apart_from: Collection[int] = ()) -> Budget:
    """Return the study's budget and what counts against it.

    The design's budget is one for all offerings with real raters. A rehearsal has the same budget for itself, so that
    it is refused what the study will be refused, and takes nothing from it.

    `apart_from` are the primary keys of HITs whose cost the caller computes itself. What workers still hold of a
    retired publication counts here all the same.
    """
    budget, late = _before_late_work(offering, apart_from), _late_cents(offering)
    beyond = _beyond(offering, late)
    fitting = sum(cents for key, cents in late.items() if key not in beyond)
    return replace(budget, owed_cents=budget.owed_cents + fitting)


def late_work_beyond_budget(offering: Offering) -> set[int]:
    """Return the primary keys of late work that waits because the budget has no room for it."""
    return _beyond(offering, _late_cents(offering))


def _late_cents(offering: Offering) -> dict[int, int]:
    """Return what late work earns that nobody has decided about, by its primary key, the earliest first."""
    # Where the crowd itself gives out the places, there is no work beyond them.
    gives_places = crowd_of(offering).abilities.sends_to_study
    late = undecided_late_work(offering) if gives_places else []
    earning = submissions_without_dues(offering).filter(pk__in=late).order_by("submitted_at", "pk") if late else []
    return {one.pk: _cents_due(offering, [one]) for one in earning}


def _beyond(offering: Offering, late: Mapping[int, int]) -> set[int]:
    left = _before_late_work(offering).left_cents if late else None
    beyond: set[int] = set()
    if left is None:
        return beyond
    for key, cents in late.items():
        if cents > left:
            beyond.add(key)
        else:
            left -= cents
    return beyond


def _before_late_work(offering: Offering, apart_from: Collection[int] = ()) -> Budget:
    design = offering.study.parsed_design
    budget = _money_of(offering, apart_from)
    if design.pay.budget_cents is not None:
        budget = replace(budget, elsewhere_cents=_cents_elsewhere(offering))
    return with_cap(budget, design, typed_cap_cents(offering))


def _cents_elsewhere(offering: Offering) -> int:
    """Return what the study's other offerings with real raters have spent, owe, or may still have to pay."""
    if not has_real_raters(offering):
        return 0
    others = Offering.objects.filter(study=offering.study_id).exclude(pk=offering.pk)
    return sum(_money_of(_of(offering.study, one)).committed_cents for one in others if has_real_raters(one))


def _of(study: Study, offering: Offering) -> Offering:
    offering.study = study  # the caller's own object, which may have parsed its design already
    return offering


def _money_of(offering: Offering, apart_from: Collection[int] = ()) -> Budget:
    """Return what was spent there, is owed or open, without any cap, and before late work that nobody has promised to
    pay."""
    ledger = Payment.objects.filter(submission__assignment__offering=offering)
    waiting = held_back(offering)
    not_owed = waiting.keys() | undecided_late_work(offering)
    unrecorded = [one for one in submissions_without_dues(offering) if one.pk not in not_owed]
    return Budget(
        currency=offering.currency,
        cap_cents=None,
        spent_cents=ledger.paid().cents(),
        owed_cents=ledger.owed().cents() + _cents_due(offering, unrecorded),
        open_cents=cents_of(
            offering,
            (one for one in open_places(offering) if one.is_retired or one.hit_id not in apart_from),
        ),
        waiting_cents=_cents_if_approved(offering, waiting),
    )


def with_cap(budget: Budget, design: StudyDesign, typed_cents: int | None) -> Budget:
    """Return the same money under the lower of the two caps."""
    own = None if design.pay.budget_cents is None else design.pay.budget_cents - budget.elsewhere_cents
    is_typed = typed_cents is not None and (own is None or typed_cents < own)
    return replace(budget, cap_cents=typed_cents if is_typed else own, is_cap_typed=is_typed)


def typed_cap_cents(offering: Offering) -> int | None:
    """Return the budget that was last typed for this marketplace, or None."""
    return offering.spending_caps.values_list("cents", flat=True).first()


def refuse_unseen_cap(offering: Offering, seen_cents: int | None) -> None:
    """Raise if the typed budget is no longer the one that was shown to the person who is about to change it."""
    standing = typed_cap_cents(offering)
    if standing != seen_cents:
        now_stands = (
            "No budget is set now" if standing is None else f"The budget is {money(standing, offering.currency)} now"
        )
        before = "none" if seen_cents is None else money(seen_cents, offering.currency)
        raise CapChanged(
            f"{now_stands}, and it was {before} when you looked: somebody has changed it. Nothing was done. Do it "
            "again if you still want your change."
        )


def set_cap(offering: Offering, cents: int | None, by: User | None, now: datetime) -> None:
    """Set the budget for everything that spends there from now on; None removes it. What is spent or on offer stays."""
    before = typed_cap_cents(offering)
    if cents == before:
        return
    SpendingCap.objects.create(offering=offering, cents=cents, set_by=by, set_at=now)
    text = (
        f"removed the budget of {money(before or 0, offering.currency)}"
        if cents is None
        else f"set the budget to {money(cents, offering.currency)}"
    )
    Event.objects.create(study=offering.study, at=now, actor=by, text=f"{text} ({offering.marketplace})")


def refuse_over_budget(
    budget: Budget, more_cents: int, what: str, instead: str, given_cap_cents: int | None = None
) -> None:
    """Raise if `what` could bring the study above its cap, or above the cap given for this occasion."""
    total = budget.committed_cents + more_cents
    standing = "the given budget" if budget.is_cap_typed else "the study's budget"
    elsewhere = 0 if budget.is_cap_typed else budget.elsewhere_cents
    for name, cap, others in [("the given budget", given_cap_cents, 0), (standing, budget.cap_cents, elsewhere)]:
        if cap is not None and total > cap:
            most, allowed = money(total + others, budget.currency), money(cap + others, budget.currency)
            there = f" ({money(others, budget.currency)} of it in its other offerings)" if others else ""
            raise OverBudget(
                f"{what} would bring the study to at most {most}{there}, above {name} of {allowed}. {instead}"
            )


def cents_of(offering: Offering, places: Iterable[UnfilledPlaces]) -> int:
    """Return what these places cost at most, with fees."""
    return sum(one.count * _cents_each(offering, one.assignments) for one in places)


def _cents_each(offering: Offering, assignments_per_hit: int) -> int:
    pay = offering.study.parsed_design.pay
    return fees_of(offering).cents_per_assignment(pay.reward_cents, pay.bonus_cents, assignments_per_hit)


def _cents_due(offering: Offering, submissions: Iterable[Submission]) -> int:
    return sum(due.cents + due.fee_cents for one in submissions for due in dues(offering, one, timezone.now()))


def _cents_if_approved(offering: Offering, waiting: Collection[int]) -> int:
    """Return what this work costs if it is approved, with the bonus: missing answers may be found later, and have
    won it."""
    rows = Submission.objects.filter(pk__in=waiting).values_list("assignment__hit__assignments", flat=True)
    return sum(_cents_each(offering, assignments) for assignments in rows)
