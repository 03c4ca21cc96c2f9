"""Shows a study's monitor: progress, pace, pay, budget and quality; syncs, screens, undoes a screening, and tops up."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from evalplatform.errors import EvalPlatformError
from hits.access import note_event
from hits.analysing import (
    describe_progress,
    find_results,
    in_one_order,
    measure_progress,
    note_look,
    results_from_json,
    sequence_row,
)
from hits.budgeting import Budget, budget_of, summarise_waiting
from hits.crowds import check_may_change, crowd_of
from hits.deciding import describe_fourth_votes
from hits.designing import CostPart
from hits.models import Offering, ScreeningRun
from hits.models.money import cents_typed, money
from hits.monitoring import (
    Controls,
    Passed,
    Progress,
    controls_by_worker,
    count_lost_checks,
    count_progress,
    is_rehearsed,
    passed_by_worker,
    refusals_of,
    refused_standings,
    submissions_per_hour,
)
from hits.paying import RealPay, confirm_top_up, propose_top_up, real_pay
from hits.publishing import MarketCounts, count_publications, describe_public_orders
from hits.tasks import screen_work_of_offering, sync_hits_of_offering, undo_screening_of_offering
from hits.views.pictures import pace_picture
from hits.views.publishing_panel import budget_in_words
from hits.views.refused import STATUS, Refused
from hits.views.replacing_page import again_panel, replacing_panel
from hits.views.screening_rows import funnel_table
from hits.views.study_pages import delay, find_offering, page_address, surroundings, tells_refusals, user_of
from hits.views.waiting import scheduler_state, waits_of

LATELY = timedelta(minutes=1)
MOST_EVENTS = 4
MOST_PAIRS = 12  # of the differences so far: twenty models have 190


@require_GET
def show_monitor(request: HttpRequest, name: str) -> HttpResponse:
    return render_monitor(request, find_offering(request, name))


def render_monitor(request: HttpRequest, offering: Offering, refused: Refused | None = None) -> HttpResponse:
    """Render the page. `refused` is a form of this page that was sent, with the reason why it was refused; whatever was
    typed in it and in the other forms is shown again."""
    typed = request.POST if refused else request.GET
    live = _live(request, offering)
    standing = budget_in_words(offering)
    context = {
        **surroundings(offering),
        "monitor": live,
        "budget": {"typed": typed.get("budget", standing), "standing": standing},
        "currency": offering.currency,
        "refused": refused,
        "public_orders": describe_public_orders(offering.study),
        "counts": live["counts"],
        "replacing": replacing_panel(offering, "replace" in typed),
        "again": again_panel(offering),
        "top_up": _top_up(offering, typed.get("hourly", "").strip()),
    }
    return render(request, "hits/monitor.html", context, status=STATUS if refused else 200)


@require_GET
def show_live(request: HttpRequest, name: str) -> HttpResponse:
    """Render the numbers alone; the page polls them while something may change."""
    offering = find_offering(request, name)
    context = {"study": offering.study, "market": offering.marketplace, "monitor": _live(request, offering)}
    return render(request, "hits/_monitor.html", context)


@require_POST
@tells_refusals
def sync_now(request: HttpRequest, name: str) -> HttpResponse:
    check_may_change(find_offering(request, name))
    return _ask(request, name, sync_hits_of_offering, "asked for a sync")


@require_POST
@tells_refusals
def screen_now(request: HttpRequest, name: str) -> HttpResponse:
    return _ask(request, name, screen_work_of_offering, "asked for the work to be screened by the study's own rules")


@require_POST
@tells_refusals
def undo_screening(request: HttpRequest, name: str) -> HttpResponse:
    return _ask(request, name, undo_screening_of_offering, "asked for the last screening to be undone")


@require_POST
@tells_refusals
def top_up(request: HttpRequest, name: str) -> HttpResponse:
    """Confirm the top-up that the page has shown. If more work has come in since, the researcher must look again."""
    offering = find_offering(request, name)
    try:
        check_may_change(offering)
        hourly_cents = cents_typed(request.POST.get("hourly", "").strip(), "The hourly rate", offering.currency) or 0
        proposal = propose_top_up(offering, hourly_cents)
        if request.POST.get("total_cents") != str(proposal.total_cents):
            raise EvalPlatformError("More work has come in since you looked, so the top-up has changed. Look again.")
        confirm_top_up(proposal, user_of(request), timezone.now())
        messages.success(
            request,
            f"The top-up of {money(proposal.cents_each, offering.currency)} each is in the ledger: a sync pays it.",
        )
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return back_to_monitor(offering)


def _ask(request: HttpRequest, name: str, task: Any, text: str) -> HttpResponse:
    offering = find_offering(request, name)
    user = user_of(request)
    try:
        delay(task, offering, user.pk if user else None)
        note_event(offering.study, f"{text} ({offering.marketplace})", user, timezone.now())
        messages.info(request, "Requested. This page shows the progress and the outcome below.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return back_to_monitor(offering)


def back_to_monitor(offering: Offering) -> HttpResponse:
    return redirect(page_address("monitor", offering))


# --- What the page shows ---------------------------------------------------------------------------------------------


def _live(request: HttpRequest, offering: Offering) -> dict[str, Any]:
    progress = count_progress(offering)
    counts = count_publications(offering)
    events = list(offering.study.events.select_related("actor")[:MOST_EVENTS])
    money = _money(offering)
    pace = submissions_per_hour(offering)
    run = ScreeningRun.objects.current(offering)
    passed = sum(passed_by_worker(offering).values(), Passed())
    controls = sum(controls_by_worker(offering).values(), Controls())
    waits = waits_of(offering)
    is_recent = bool(events) and timezone.now() - events[0].at < LATELY
    return {
        "progress": progress,
        "counts": counts,
        "money": money,
        "refusals": refusals_of(offering),
        "refused_standings": refused_standings(offering),
        "waiting": summarise_waiting(offering),
        "fourth_votes": describe_fourth_votes(offering),
        "picture": pace and pace_picture(pace),
        "pay": _pay(offering, progress),
        "passed": passed,
        "controls": controls,
        "lost_checks": count_lost_checks(offering),
        "screening": run and funnel_table(run),
        **_so_far(request, offering, bool(progress.submitted)),
        "events": events,
        "now": timezone.now(),
        "waits": waits,
        "scheduler": _may_change(progress, counts, money) and scheduler_state(),
        "is_live": is_recent or bool(waits) or _may_change(progress, counts, money),
    }


def _so_far(request: HttpRequest, offering: Offering, has_work: bool) -> dict[str, Any]:
    """Say whether results are interim, and show the confidence sequences that were computed last: those of stored
    results, or of the study's own rule. Nothing is computed here. Showing stored results is noted as a look at them, on
    whatever page they stand."""
    if not has_work:
        return {"interim": "", "sequences": []}
    measured = measure_progress(offering)
    row = find_results(offering)
    found, computed_at = measured.looked, None
    if row.results and not measured.has_verdicts:
        stored = in_one_order(results_from_json(row.results))
        found, computed_at = stored.main.sequences, row.computed_at
        if found:
            note_look(offering, stored.progress, row.source, user_of(request), timezone.now())
    return {
        "interim": describe_progress(measured),
        "sequences": [] if measured.has_verdicts else [sequence_row(one, measured) for one in found[:MOST_PAIRS]],
        "more_sequences": max(0, len(found) - MOST_PAIRS),
        "sequences_at": computed_at,
    }


def _may_change(progress: Progress, counts: MarketCounts, money: dict[str, Any]) -> bool:
    return bool(progress.to_come or counts.begun or progress.waiting or money["owed_cents"])


def _money(offering: Offering) -> dict[str, Any]:
    budget = budget_of(offering)
    parts = [
        CostPart(_name_of_spent(offering), budget.spent_cents, budget.currency),
        CostPart("Owed", budget.owed_cents, budget.currency),
        CostPart("Still open, at most", budget.open_cents, budget.currency),
    ]
    if budget.waiting_cents:
        parts.append(CostPart("Waiting for your decision, at most", budget.waiting_cents, budget.currency))
    return {
        "owed_cents": budget.owed_cents,
        "scale_cents": max(budget.cap_cents or 0, budget.committed_cents, 1),
        "parts": parts,
        "words": _in_words(budget, offering.marketplace),
        "is_above": budget.left_cents is not None and budget.left_cents < 0,
    }


def _name_of_spent(offering: Offering) -> str:
    if crowd_of(offering).abilities.pays_workers:
        return "Spent"
    return "Rehearsed: due to nobody" if is_rehearsed(offering) else "Due elsewhere"


def _in_words(budget: Budget, environment: str) -> str:
    """Say how much of the budget is left, fees included."""
    if budget.cap_cents is None or budget.left_cents is None:
        return f"{money(budget.committed_cents, budget.currency)} in all, at most and with fees. No budget is set."
    cap = _cap_in_words(budget, environment)
    if budget.left_cents < 0:
        return f"At most {money(-budget.left_cents, budget.currency)} above {cap}, fees included."
    return f"At least {money(budget.left_cents, budget.currency)} are left of {cap}, fees included."


def _cap_in_words(budget: Budget, environment: str) -> str:
    if budget.is_cap_typed or budget.cap_cents is None:
        typed = money(budget.cap_cents or 0, budget.currency)
        return f"the budget of {typed} that was set for the {environment} marketplace"
    whole = money(budget.cap_cents + budget.elsewhere_cents, budget.currency)
    others = f", {money(budget.elsewhere_cents, budget.currency)} of which are for other offerings"
    return f"the budget of {whole} in the study's design{others if budget.elsewhere_cents else ''}"


def _pay(offering: Offering, progress: Progress) -> dict[str, Any]:
    """Return the median time and pay with their spread, or why there are none."""
    pay = real_pay(offering)
    if pay is None:
        few = progress.submitted - progress.rejected < 2
        missing = "at least two submissions with answers are needed" if few else "the pages have measured no time"
        return {"problem": missing}
    design = offering.study.parsed_design
    low, middle, high = pay.minutes_quartiles
    return {
        "real": pay,
        "minutes": f"{middle:.1f}",
        "minutes_low": f"{low:.1f}",
        "minutes_high": f"{high:.1f}",
        "hourly": money(pay.hourly_cents, offering.currency),
        **_spread(pay, design.pay.reward_cents, offering.currency),
        "minimum": money(design.pay.minimum_hourly_cents, offering.currency),
        "is_below_minimum": pay.hourly_cents < design.pay.minimum_hourly_cents,
    }


def _spread(pay: RealPay, reward_cents: int, currency: str) -> dict[str, str]:
    """Put the quartiles into words. The longest time gives the lowest hourly pay."""
    low, _, high = pay.minutes_quartiles
    return {
        "hourly_low": money(round(reward_cents * 60 / high), currency) if high else "",
        "hourly_high": money(round(reward_cents * 60 / low), currency) if low else "",
    }


def _above(budget: Budget, cents: int) -> str:
    if budget.left_cents is None or cents <= budget.left_cents:
        return ""
    left, cap = (money(cents, budget.currency) for cents in (max(0, budget.left_cents), budget.cap_cents or 0))
    return f"Mind the budget: besides all that is on offer, {left} of its {cap} are left."


def _top_up(offering: Offering, hourly: str) -> dict[str, Any]:
    minimum = offering.study.parsed_design.pay.minimum_hourly_cents
    if not hourly:
        return {"hourly": f"{minimum / 100:.2f}"}
    try:
        proposal = propose_top_up(offering, cents_typed(hourly, "The hourly rate", offering.currency) or 0)
    except EvalPlatformError as error:
        return {"hourly": hourly, "problem": str(error)}
    if not proposal.submissions:
        return {"hourly": hourly, "problem": "Every submission has had its top-up already."}
    return {
        "hourly": hourly,
        "proposal": proposal,
        "each": money(proposal.cents_each, offering.currency),
        "total": money(proposal.total_cents, offering.currency),
        "above": _above(budget_of(offering), proposal.total_cents),
    }
