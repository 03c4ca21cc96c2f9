"""Decides which marketplace a study's pages and forms are about; starts background work."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from evalplatform.errors import EvalPlatformError
from hits.access import study_for
from hits.analysing import describe_origin, origin_of_work
from hits.background import send
from hits.crowds import check_is_allowed, crowd_of, environment_of, offered_marketplaces
from hits.models import Offering, Pool, PublishingRun, Scope, Study, offering_for
from hits.publishing import last_offering

ATTEMPTS_WHILE_SOMEONE_WAITS = 4
KEPT = ("market", "hits", "budget", "budget_shown")  # fields of the publishing form

View = Callable[..., HttpResponseBase]


def chosen_offering(study: Study, query: QueryDict) -> Offering:
    """Return the marketplace that the address names, else the one on which the study was published last."""
    offered = offered_marketplaces()
    if (asked := query.get("market", "")) in offered:
        return offering_for(study, asked)
    return last_offering(study, offered)


def offering_of_form(study: Study, request: HttpRequest) -> Offering:
    """Return the marketplace that the form names. If this server does not offer it, refuse: never act on another
    one."""
    asked = request.POST.get("market", "")
    check_is_allowed(asked)
    return offering_for(study, asked)


def find_offering(request: HttpRequest, name: str) -> Offering:
    """Find a frozen study on the marketplace that the address or the form names.

    If a form names a marketplace that this server does not offer, it is refused, and nothing is done on another one.
    """
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    if request.method == "POST" and request.POST.get("market", ""):
        return offering_of_form(study, request)
    return chosen_offering(study, request.POST if request.method == "POST" else request.GET)


def tells_refusals(view: View) -> View:
    """Show refusals that come before the form's own page is known as one line on the study's page."""

    @wraps(view)
    def tell(request: HttpRequest, name: str, *args: Any, **more: Any) -> HttpResponseBase:
        try:
            return view(request, name, *args, **more)
        except EvalPlatformError as error:
            messages.error(request, str(error))
            return redirect("study", name=name)

    return tell


def back_to_study(request: HttpRequest, study: Study) -> HttpResponse:
    """Go back to the study, with what was typed about money in the page's other forms (frontend/src/keeping.ts)."""
    kept = {name: request.POST[name] for name in KEPT if request.POST.get(name)}
    if "budget" in kept:
        kept.setdefault("budget_shown", "")  # it was typed where no budget had been set
    return redirect(f"{reverse('study', args=[study.name])}{f'?{urlencode(kept)}' if kept else ''}")


def page_address(page: str, scope: Scope, *more: object) -> str:
    """Return the address of one of the study's pages, for this marketplace, or for several together."""
    return f"{reverse(page, args=[scope.study.name, *more])}?{urlencode({'market': scope.marketplace})}"


def surroundings(offering: Offering) -> dict[str, Any]:
    """Return what `hits/study_page.html` shows around each page."""
    return {
        "study": offering.study,
        "market": offering.marketplace,
        "has_links": crowd_of(offering).abilities.comes_by_links,
        "market_kind": environment_of(offering).kind,
        "offered": list(offered_marketplaces().values()),
        # A function, which the template calls: parts of pages that are fetched again and again don't show it.
        "origin_words": lambda: describe_origin(origin_of_work(offering)),
    }


def user_of(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None


def delay(task: Any, about: Study | Offering | Pool | PublishingRun, *more: object) -> None:
    send(task, about, *more)
