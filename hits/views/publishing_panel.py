"""Prepares the publishing panel of a study's page (cost, run, progress), and reads the typed number and budget."""

import re
from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.analysing import describe_origin, origin_of_work
from hits.budgeting import CapChanged, refuse_unseen_cap, typed_cap_cents
from hits.crowds import crowd_of, environment_of, has_real_raters, offered_marketplaces, why_no_raters
from hits.designing import describe_hourly_pay, split_cost
from hits.models import Offering, PublishingRun, Study
from hits.models.money import cents_typed, money
from hits.publishing import (
    PublishingPlan,
    check_budget,
    count_publications,
    count_run,
    launch_checks,
    plan_publishing,
    under_cap,
)
from hits.views.links_page import link_rows
from hits.views.refused import FieldRefused
from hits.views.study_pages import chosen_offering
from hits.views.waiting import wait_for

HITS, BUDGET, TYPED_NAME = "publishing-hits", "publishing-budget", "typed-name"  # the fields' ids


def publishing_panel(study: Study, query: QueryDict, is_told: bool = False) -> dict[str, Any]:
    """Return what `hits/_publishing.html` shows. `query` has what was typed, if anything; `is_told` says that the page
    already tells that the budget was changed meanwhile."""
    offering = chosen_offering(study, query)
    return {
        "marketplace": offering.marketplace,
        "currency": offering.currency,
        "environment": environment_of(offering),
        "offered": list(offered_marketplaces().values()),
        "counts": count_publications(offering),
        "origin_words": describe_origin(origin_of_work(offering)),
        "has_real_raters": has_real_raters(offering),
        "can_declare_raters": not has_real_raters(offering) and not why_no_raters(offering),
        "pays_workers": crowd_of(offering).abilities.pays_workers,
        "quotes_costs": crowd_of(offering).abilities.quotes_costs,
        "has_links": crowd_of(offering).abilities.comes_by_links,
        "links": link_rows(offering),
        "checks": launch_checks(offering),
        "look_url": crowd_of(offering).look_url(offering.environment),
        **run_context(offering),
        **cost_context(offering, query, is_told),
    }


def run_context(offering: Offering) -> dict[str, Any]:
    run = _last_run(offering)
    if run is None:
        return {"run": None}
    return {
        "run": run,
        "run_counts": count_run(run),
        "is_quiet": run.is_quiet(timezone.now()),
        "wait": wait_for("Publishing", run),
    }


def cost_context(offering: Offering, query: Mapping[str, str], is_told: bool = False) -> dict[str, Any]:
    standing = budget_in_words(offering)
    shown = query.get("budget_shown", "") if "budget" in query else standing
    budget = query.get("budget", standing)
    if budget.strip() in ("", shown) and shown != standing:
        budget = shown = standing  # nothing was typed: the field shows the budget that holds
    typed = {"hits": query.get("hits", ""), "budget": budget}
    context: dict[str, Any] = {**typed, "budget_shown": standing if is_told else shown}
    try:
        wave, budget_cents = wave_and_budget(typed, offering.currency)
        plan = plan_publishing(offering, wave)
        context |= {"plan": plan, **_plan_rows(plan)}
        check_budget_typed(plan, budget_cents)
        if standing and budget_cents is None:
            context["taken_away"] = money(typed_cap_cents(offering) or 0, offering.currency)
    except EvalPlatformError as error:
        context["problem"] = str(error)
    return context


def wave_and_budget(fields: Mapping[str, str], currency: str) -> tuple[int | None, int | None]:
    wave, budget = fields.get("hits", "").strip(), fields.get("budget", "").strip()
    if wave and not re.fullmatch("[1-9][0-9]{0,8}", wave):
        raise FieldRefused(HITS, f"{wave!r} is no number of HITs: write at least 1, or leave it empty for all of them.")
    try:
        return int(wave) if wave else None, cents_typed(budget or None, "The budget", currency)
    except EvalPlatformError as error:
        raise FieldRefused(BUDGET, str(error)) from error


def check_budget_typed(plan: PublishingPlan, budget_cents: int | None) -> None:
    try:
        check_budget(under_cap(plan, budget_cents))
    except EvalPlatformError as error:
        raise FieldRefused(BUDGET if budget_cents is not None else HITS, str(error)) from error


def _last_run(offering: Offering) -> PublishingRun | None:
    return offering.publishing_runs.select_related("requested_by").first()


def budget_in_words(offering: Offering) -> str:
    """Return the budget that was typed before, as a field shows it. It holds unless someone empties the field."""
    cents = typed_cap_cents(offering)
    return "" if cents is None else f"{cents / 100:.2f}"


def refuse_unseen_budget(offering: Offering, fields: Mapping[str, str], field: str = BUDGET) -> None:
    """Refuse to change a budget that the page has not shown: somebody may have set another one since."""
    try:
        shown = fields.get("budget_shown", "") or None
        seen = cents_typed(shown, "What the page has shown as the budget", offering.currency)
        refuse_unseen_cap(offering, seen)
    except CapChanged as changed:
        raise FieldRefused(field, str(changed)) from changed


def _plan_rows(plan: PublishingPlan) -> dict[str, Any]:
    return {
        "cost_parts": split_cost(plan.cost, plan.design.pay.currency),
        "cost": money(plan.cost.total_cents, plan.design.pay.currency),
        "spent": plan.budget.committed_cents and money(plan.budget.committed_cents, plan.design.pay.currency),
        "total": money(plan.total_cents, plan.design.pay.currency),
        "study_budget": plan.design.pay.budget_cents is not None
        and money(plan.design.pay.budget_cents, plan.design.pay.currency),
        "hourly_pay": describe_hourly_pay(plan.design),
    }
