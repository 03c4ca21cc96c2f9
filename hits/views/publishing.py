"""Publishing from a study's page: the cost first, then the run and its progress; stopping and putting back."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.designing.describing import describe_hourly_pay, dollars
from hits.designing.summarising import parts_of
from hits.localturk.openness import is_open
from hits.markets import check_may_change, offered_environments, open_market, worker_page_url
from hits.models import MarketEnvironment, PublishingRun, Study
from hits.mturk.worker_sites import WORKER_SITES
from hits.publishing.describing import cents_from_dollars, count_publications
from hits.publishing.planning import PublishingPlan, check_budget, plan_publishing
from hits.publishing.runs import count_run, finish_run, request_run
from hits.publishing.stopping import StoppingResult, resume_study, stop_study
from hits.sharing import study_for
from hits.tasks import publish_hits_of_run, resume_hits_of_study, stop_hits_of_study
from hits.views.study_pages import ATTEMPTS_WHILE_SOMEONE_WAITS, chosen_environment, delay, user_of

MOST_HITS_CHANGED_AT_ONCE = 500


def publishing_panel(study: Study, query: QueryDict) -> dict[str, Any]:
    """What `hits/_publishing.html` shows."""
    environment = chosen_environment(study, query)
    return {
        "environment": environment,
        "offered": offered_environments(),
        "counts": count_publications(study, environment),
        "look_url": _look_url(environment),
        **_run_context(study, environment),
        **_cost_context(study, environment, query),
    }


@require_GET
def show_publishing(request: HttpRequest, name: str) -> HttpResponse:
    """The run's progress, asked for again and again; the whole panel when it has come to its end."""
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    environment = chosen_environment(study, request.GET)
    progress = {"environment": environment, **_run_context(study, environment)}
    if progress["run"] and progress["run"].finished_at is None:
        return render(request, "hits/_publishing_run.html", {"study": study, "publishing": progress})
    context = {"study": study, "publishing": publishing_panel(study, request.GET)}
    response = render(request, "hits/_publishing.html", context)
    response.headers["HX-Retarget"], response.headers["HX-Reswap"] = "#publishing", "outerHTML"
    return response


@require_GET
def show_publishing_cost(request: HttpRequest, name: str) -> HttpResponse:
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    cost = _cost_context(study, chosen_environment(study, request.GET), request.GET)
    return render(request, "hits/_publishing_cost.html", {"study": study, "publishing": cost})


@require_POST
def publish(request: HttpRequest, name: str) -> HttpResponse:
    study = study_for(request.user, name=name)
    environment = request.POST.get("market", "")
    try:
        _check_environment(study, environment)
        if environment == MarketEnvironment.PRODUCTION and request.POST.get("typed_name", "").strip() != study.name:
            raise EvalPlatformError("That is not the study's name: nothing is published.")
        run = request_run(study, environment, *_wave_and_budget(request.POST), user_of(request), timezone.now())
        _send(run)
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return _back(study, environment)


@require_POST
def publish_again(request: HttpRequest, name: str) -> HttpResponse:
    """For a run whose worker seems dead. Should it live after all, two at once do no harm."""
    study = study_for(request.user, name=name)
    environment = request.POST.get("market", "")
    run = study.publishing_runs.unfinished().filter(environment=environment).first()
    if run is not None:
        try:
            _check_environment(study, environment)
            PublishingRun.objects.filter(pk=run.pk).update(seen_at=timezone.now())
            _send(run)
        except EvalPlatformError as error:
            messages.error(request, str(error))
    return _back(study, environment)


@require_POST
def stop(request: HttpRequest, name: str) -> HttpResponse:
    return _change(request, name, stop_study, stop_hits_of_study, "off the market")


@require_POST
def resume(request: HttpRequest, name: str) -> HttpResponse:
    return _change(request, name, resume_study, resume_hits_of_study, "on offer again")


def _change(
    request: HttpRequest, name: str, act: Callable[..., StoppingResult], on_worker: Any, where: str
) -> HttpResponse:
    """At once, in this process: whoever stops a study must not wait for a worker. But thousands take their time."""
    study = study_for(request.user, name=name)
    environment = request.POST.get("market", "")
    user = user_of(request)
    try:
        check_may_change(study, environment)
        counts = count_publications(study, environment)
        if counts.on_offer + counts.stopped > MOST_HITS_CHANGED_AT_ONCE:
            delay(on_worker, study.pk, environment, user.pk if user else None)
            messages.info(request, f"A worker is putting the HITs {where}. Open this page again to see how far it is.")
        else:
            market = open_market(study, environment, ATTEMPTS_WHILE_SOMEONE_WAITS)
            result = act(study, environment, market, timezone.now, user)
            _tell(request, result, where)
    except EvalPlatformError as error:
        messages.error(request, str(error))
    if request.POST.get("back") == "monitor":
        return redirect(f"{reverse('monitor', args=[study.name])}?{urlencode({'market': environment})}")
    return _back(study, environment)


def _tell(request: HttpRequest, result: StoppingResult, where: str) -> None:
    messages.success(request, f"{count_of(result.changed, 'HIT is', 'HITs are')} {where}.")
    for reason, count in result.refused.items():
        messages.error(request, f"{count_of(count, 'is', 'are')} not: {reason}")
    if result.stopped_by:
        messages.error(request, f"{str(result.stopped_by).rstrip('.')}. Do it again to go on.")


def _check_environment(study: Study, environment: str) -> None:
    check_may_change(study, environment)
    worker_page_url(environment)


def _wave_and_budget(fields: QueryDict) -> tuple[int | None, int | None]:
    wave = fields.get("hits", "").strip()
    if wave and not re.fullmatch("[1-9][0-9]{0,8}", wave):
        raise EvalPlatformError(f"{wave!r} is no number of HITs: write at least 1, or nothing for all of them.")
    return int(wave) if wave else None, cents_from_dollars(fields.get("budget", "").strip() or None, "The budget")


def _send(run: PublishingRun) -> None:
    try:
        delay(publish_hits_of_run, run.pk)
    except EvalPlatformError as error:
        finish_run(run, str(error), timezone.now())
        raise


def _back(study: Study, environment: str) -> HttpResponse:
    return redirect(f"{reverse('study', args=[study.name])}?{urlencode({'market': environment})}#publishing")


def _run_context(study: Study, environment: str) -> dict[str, Any]:
    run = study.publishing_runs.filter(environment=environment).select_related("requested_by").first()
    if run is None:
        return {"run": None}
    return {"run": run, "run_counts": count_run(run), "is_quiet": run.is_quiet(timezone.now())}


def _cost_context(study: Study, environment: str, query: QueryDict) -> dict[str, Any]:
    context: dict[str, Any] = {"hits": query.get("hits", ""), "budget": query.get("budget", "")}
    try:
        wave, budget_cents = _wave_and_budget(query)
        plan = plan_publishing(study, environment, wave)
        context |= {"plan": plan, **_plan_rows(plan)}
        check_budget(plan, budget_cents)
    except EvalPlatformError as error:
        context["problem"] = str(error)
    return context


def _plan_rows(plan: PublishingPlan) -> dict[str, Any]:
    return {
        "cost_parts": parts_of(plan.cost),
        "cost": dollars(plan.cost.total_cents),
        "spent": plan.budget.committed_cents and dollars(plan.budget.committed_cents),
        "total": dollars(plan.total_cents),
        "study_budget": plan.design.pay.budget_cents is not None and dollars(plan.design.pay.budget_cents),
        "hourly_pay": describe_hourly_pay(plan.design),
    }


def _look_url(environment: str) -> str:
    """Where workers see the HITs. The local marketplace has pages only where it is the one in use."""
    if environment in WORKER_SITES:
        return WORKER_SITES[environment]
    return reverse("market-hits") if is_open() else ""
