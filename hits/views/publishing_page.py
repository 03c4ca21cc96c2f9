"""Publishes a study from its page: the cost first, then the run's progress; stops and resumes it, at once if it can."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access import study_for
from hits.budgeting import spending
from hits.crowds import check_may_change, environment_of, open_crowd, worker_page_url
from hits.models import Offering, PublishingRun
from hits.publishing import (
    LaunchCheck,
    StoppingResult,
    count_publications,
    declare_raters,
    describe_public_orders,
    outside_checks,
    plan_publishing,
    quote_checks,
    refuse_draft,
    request_again,
    request_run,
    resume_study,
    send_run,
    stop_study,
)
from hits.tasks import publish_hits_of_run, resume_hits_of_offering, stop_hits_of_offering
from hits.views.publishing_panel import (
    TYPED_NAME,
    check_budget_typed,
    cost_context,
    publishing_panel,
    refuse_unseen_budget,
    run_context,
    wave_and_budget,
)
from hits.views.refused import FieldRefused, refused_form
from hits.views.study_overview import render_study
from hits.views.study_pages import (
    ATTEMPTS_WHILE_SOMEONE_WAITS,
    back_to_study,
    chosen_offering,
    delay,
    offering_of_form,
    user_of,
)

MOST_HITS_CHANGED_AT_ONCE = 500


@require_GET
def show_publishing(request: HttpRequest, name: str) -> HttpResponse:
    """Render the run's progress, which the page polls, and the whole panel once the run has ended."""
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    offering = chosen_offering(study, request.GET)
    progress = {"marketplace": offering.marketplace, **run_context(offering)}
    if progress["run"] and progress["run"].finished_at is None:
        return render(request, "hits/_publishing_run.html", {"study": study, "publishing": progress})
    panel = publishing_panel(study, request.GET)
    context = {"study": study, "publishing": panel, "public_orders": describe_public_orders(study)}
    response = render(request, "hits/_publishing.html", context)
    response.headers["HX-Retarget"], response.headers["HX-Reswap"] = "#publishing", "outerHTML"
    return response


@require_GET
def show_publishing_cost(request: HttpRequest, name: str) -> HttpResponse:
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    cost = cost_context(chosen_offering(study, request.GET), request.GET)
    return render(request, "hits/_publishing_cost.html", {"study": study, "publishing": cost})


@require_POST
def look_outside(request: HttpRequest, name: str) -> HttpResponse:
    """Render what only a look outside can tell: the account's balance, and whether workers can open their page. It is a
    POST, so that nobody who merely follows a link makes us call somebody else's server."""
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    try:
        offering = offering_of_form(study, request)
        checks = list(outside_checks(offering))
    except EvalPlatformError as error:
        checks = [LaunchCheck("Marketplace", False, str(error))]
    return render(request, "hits/_launch_checks.html", {"checks": checks})


@require_POST
def quote_study(request: HttpRequest, name: str) -> HttpResponse:
    """Render what the crowd's own calculator says of the HITs that are typed into the form."""
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    try:
        offering = offering_of_form(study, request)
        wave, _ = wave_and_budget({"hits": request.POST.get("hits", "")}, offering.currency)
        checks = list(quote_checks(offering, wave))
    except EvalPlatformError as error:
        checks = [LaunchCheck("Marketplace", False, str(error))]
    return render(request, "hits/_launch_checks.html", {"checks": checks})


@require_http_methods(["GET", "POST"])
def publish(request: HttpRequest, name: str) -> HttpResponse:
    """Request a publishing run. If the form is refused, the study's page shows again what was typed, so that a budget
    that can't be read never counts as no budget. A browser may ask for that page's address by GET; it then gets the
    study."""
    study = study_for(request.user, name=name)
    if request.method == "GET":
        return redirect("study", name=name)
    try:
        offering = offering_of_form(study, request)
        check_may_change(offering)
        refuse_draft(study)
    except EvalPlatformError as error:  # this is about no field, and nothing on this page could solve it
        messages.error(request, str(error))
        return redirect("study", name=name)
    try:
        refuse_unseen_budget(offering, request.POST.dict())  # before any other reason to send the form back
        worker_page_url(offering)
        if environment_of(offering).is_real_money and request.POST.get("typed_name", "").strip() != study.name:
            raise FieldRefused(TYPED_NAME, "That is not the study's name: nothing is published.")
        run = _request_run(request, offering, request.POST)
        send_run(run, _send, timezone.now())
    except EvalPlatformError as error:
        return render_study(request, study, refused_form("publishing", error, request.POST.dict()))
    return _back(offering)


def _request_run(request: HttpRequest, offering: Offering, typed: QueryDict) -> PublishingRun:
    fields = {name: str(value) for name, value in typed.items()}
    wave, budget_cents = wave_and_budget(fields, offering.currency)
    with spending(offering.study):  # so that nobody changes the budget in between
        refuse_unseen_budget(offering, fields)
        check_budget_typed(plan_publishing(offering, wave), budget_cents)
        run = request_run(offering, wave, budget_cents, user_of(request), timezone.now())
        if "real_raters" in fields:
            declare_raters(offering, user_of(request), timezone.now())
        return run


@require_POST
def publish_again(request: HttpRequest, name: str) -> HttpResponse:
    """Send a run again whose background process seems dead."""
    study = study_for(request.user, name=name)
    try:
        refuse_draft(study)
        offering = offering_of_form(study, request)
        _check_environment(offering)
        request_again(offering, _send, timezone.now())
    except EvalPlatformError as error:
        messages.error(request, str(error))
        return redirect("study", name=name)
    return _back(offering)


@require_POST
def stop(request: HttpRequest, name: str) -> HttpResponse:
    return _change(request, name, stop_study, stop_hits_of_offering, "off the market")


@require_POST
def resume(request: HttpRequest, name: str) -> HttpResponse:
    return _change(request, name, resume_study, resume_hits_of_offering, "on offer again")


def _change(
    request: HttpRequest, name: str, act: Callable[..., StoppingResult], in_background: Any, where: str
) -> HttpResponse:
    """Stop or resume at once, in this process: whoever stops a study must not wait for a background process. Only with
    thousands of HITs, which take their time, a background process does it."""
    study = study_for(request.user, name=name)
    user = user_of(request)
    try:
        offering = offering_of_form(study, request)
        check_may_change(offering)
        refuse_draft(study)
        counts = count_publications(offering)
        if counts.on_offer + counts.stopped > MOST_HITS_CHANGED_AT_ONCE:
            delay(in_background, offering, user.pk if user else None)
            messages.info(request, f"Requested: the HITs will be {where}. The monitor shows the progress.")
        else:
            market = open_crowd(offering, ATTEMPTS_WHILE_SOMEONE_WAITS)
            result = act(offering, market, timezone.now, user)
            _tell(request, result, where)
    except EvalPlatformError as error:
        messages.error(request, str(error))
    if request.POST.get("back") == "monitor":
        return redirect(
            f"{reverse('monitor', args=[study.name])}?{urlencode({'market': request.POST.get('market', '')})}"
        )
    # To the top, where the message is: the panel is further down.
    return back_to_study(request, study)


def _tell(request: HttpRequest, result: StoppingResult, where: str) -> None:
    messages.success(request, f"{count_of(result.changed, 'HIT is', 'HITs are')} {where}.")
    for trouble in result.troubles:
        messages.error(request, f"Not all of them. {trouble}")


def _check_environment(offering: Offering) -> None:
    check_may_change(offering)
    worker_page_url(offering)


def _send(run: PublishingRun) -> None:
    delay(publish_hits_of_run, run)


def _back(offering: Offering) -> HttpResponse:
    return redirect(
        f"{reverse('study', args=[offering.study.name])}?{urlencode({'market': offering.marketplace})}#publishing"
    )
