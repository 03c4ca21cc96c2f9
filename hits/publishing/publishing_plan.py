"""Decides which HITs a run publishes, in which wave, at what cost; refuses what budget or balance don't cover."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.db.models import Max

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.budgeting import Budget, budget_of, refuse_over_budget, with_cap
from hits.crowds import Cost, Market, crowd_of, fees_of
from hits.models import Hit, Offering, Publication, PublishingRun, RuleStop, Study
from hits.models.design import StudyDesign
from hits.models.money import money
from hits.models.publication import PublicationQuerySet


@dataclass(frozen=True)
class PublishingPlan:
    """What a run would publish and cost. A researcher sees it first."""

    offering: Offering
    design: StudyDesign
    hits: list[Hit]
    begun_count: int  # how many of them an interrupted run left: they may be on the marketplace already
    cost: Cost  # what these HITs cost at most
    budget: Budget  # what else counts against the budget, without these HITs
    wave: int
    run: PublishingRun | None = None
    adopted_count: int = 0  # HITs that this plan first named, and that were found on the marketplace

    @property
    def total_cents(self) -> int:
        return self.cost.total_cents + self.budget.committed_cents


def refuse_draft(study: Study) -> None:
    """Raise if the study has no HITs yet."""
    if not study.is_frozen:
        raise EvalPlatformError(f"{study} has no HITs yet: build them first with `manage.py build_hits {study}`.")


def refuse_unmet_wishes(offering: Offering) -> None:
    """Raise if the study asks for something that its crowd can't do: workers would not be admitted or paid as the
    design says."""
    unmet = [one.message for one in crowd_of(offering).unmet_wishes(offering.study.parsed_design)]
    if unmet:
        raise EvalPlatformError(
            f"{offering.study} can't be offered on {offering.marketplace}: {'; '.join(unmet)}. "
            "Copy the study to set that."
        )


def refuse_decided(offering: Offering) -> None:
    """Raise if the study has stopped by its own rule because everything is decided. (A stop for want of money is lifted
    by publishing more.)"""
    stop = RuleStop.objects.standing().filter(offering=offering, kind=RuleStop.Kind.DECIDED).first()
    if stop is not None:
        raise EvalPlatformError(
            f"{offering.study} has stopped by its own rule on {offering.marketplace}: {stop.reason}. Copy the study to "
            "ask for more work."
        )


def plan_publishing(
    offering: Offering, most_hits: int | None = None, run: PublishingRun | None = None
) -> PublishingPlan:
    """Plan the HITs that are still to be published: those of an interrupted run first, those once refused last.

    With `most_hits`, what was interrupted is finished first and alone, so that repeating a request after a crash ends
    with as many HITs as if there had been no crash. A `run` that has begun keeps to the HITs that it began with.
    """
    refuse_draft(offering.study)
    refuse_unmet_wishes(offering)
    refuse_decided(offering)
    design = offering.study.parsed_design
    most_hits = most_hits or design.analysis.wave_hits or None
    ours = Publication.objects.filter(offering=offering)
    begun = list(offering.study.hits.filter(publications__in=ours.begun()))
    if run and run.publications.exists():
        hits = list(offering.study.hits.filter(publications__in=ours.unconfirmed().filter(run=run)))
    elif begun and most_hits is not None:
        hits = begun[:most_hits]
    else:
        fresh = offering.study.hits.frozen().exclude(publications__in=ours)
        refused = offering.study.hits.filter(publications__in=ours.refused())
        hits = [*begun, *fresh, *refused][:most_hits]
    return PublishingPlan(
        offering=offering,
        design=design,
        hits=hits,
        begun_count=len({hit.pk for hit in begun} & {hit.pk for hit in hits}),
        cost=_worst_case_cost(offering, hits),
        budget=budget_of(offering, {hit.pk for hit in hits}),
        wave=_next_wave(ours),
        run=run,
    )


def plan_added_hits(offering: Offering) -> PublishingPlan:
    """Plan the HITs that were added to this offering for fourth votes and are not published yet."""
    unpublished = Publication.objects.filter(offering=offering).current().unconfirmed()
    hits = list(offering.study.hits.filter(added_for=offering, publications__in=unpublished))
    return PublishingPlan(
        offering=offering,
        design=offering.study.parsed_design,
        hits=hits,
        begun_count=len(hits),
        cost=_worst_case_cost(offering, hits),
        budget=budget_of(offering, {hit.pk for hit in hits}),
        wave=1,  # each row has its own
    )


def without_confirmed(plan: PublishingPlan) -> PublishingPlan:
    """Return the plan without those HITs that were found on the marketplace."""
    ours = Publication.objects.filter(offering=plan.offering)
    confirmed = set(ours.current().confirmed().values_list("hit", flat=True))
    hits = [hit for hit in plan.hits if hit.pk not in confirmed]
    return replace(
        plan,
        hits=hits,
        cost=_worst_case_cost(plan.offering, hits),
        budget=budget_of(plan.offering, {hit.pk for hit in hits}),
        adopted_count=len(plan.hits) - len(hits),
    )


def under_cap(plan: PublishingPlan, typed_cents: int | None) -> PublishingPlan:
    """Return the plan as if this budget had been typed for the marketplace already."""
    return replace(plan, budget=with_cap(plan.budget, plan.design, typed_cents))


def check_budget(plan: PublishingPlan, budget_cents: int | None = None) -> None:
    """Raise if the plan exceeds the budget. `budget_cents` is a cap for this occasion alone, beside the study's own."""
    refuse_over_budget(plan.budget, plan.cost.total_cents, *words_for_budget(plan), budget_cents)


def words_for_budget(plan: PublishingPlan) -> tuple[str, str]:
    """Return what would be refused above the budget, and what to do instead."""
    return f"Publishing {count_of(len(plan.hits), 'HIT')}", "Publish fewer HITs at a time, or raise the budget."


def check_funds(plan: PublishingPlan, market: Market, budget_cents: int | None = None) -> None:
    """Raise if the budget or the account's balance does not cover the worst case."""
    check_budget(plan, budget_cents)
    balance = market.balance_cents()
    if plan.cost.total_cents > balance:
        currency = plan.design.pay.currency
        raise EvalPlatformError(
            f"These HITs cost at most {money(plan.cost.total_cents, currency)}, and the account holds "
            f"{money(balance, currency)}. Publish fewer HITs at a time, or add funds."
        )


def _next_wave(ours: PublicationQuerySet) -> int:
    """Return the number of the interrupted wave, or else of the next one."""
    interrupted = ours.begun().aggregate(wave=Max("wave"))["wave"]
    last = ours.confirmed().aggregate(wave=Max("wave"))["wave"]
    return int(interrupted or (last or 0) + 1)


def _worst_case_cost(offering: Offering, hits: Iterable[Hit]) -> Cost:
    counts: dict[int, int] = {}
    for hit in hits:
        counts[hit.assignments] = counts.get(hit.assignments, 0) + 1
    pay = offering.study.parsed_design.pay
    return fees_of(offering).worst_case_cost(pay.reward_cents, pay.bonus_cents, counts)
