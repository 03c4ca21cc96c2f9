"""What a study's pages have in common: which marketplace they speak of, who asks, and handing work to a worker."""

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
from hits.access.sharing import study_for
from hits.background import send
from hits.crowds.opening import check_is_allowed, offered_environments
from hits.models import MarketEnvironment, Study

ATTEMPTS_WHILE_SOMEONE_WAITS = 4
KEPT = ("market", "hits", "budget", "budget_shown")  # fields of the publishing form

View = Callable[..., HttpResponseBase]


def chosen_environment(study: Study, query: QueryDict) -> str:
    """The one asked for, else the last one used."""
    offered = offered_environments()
    if (asked := query.get("market", "")) in offered:
        return asked
    last_run = study.publishing_runs.filter(environment__in=offered).first()
    return last_run.environment if last_run else MarketEnvironment.LOCAL


def find_study(request: HttpRequest, name: str) -> tuple[Study, str]:
    """A frozen one, and the marketplace that the address or the form names.

    A form is taken at its word: what it names and this server does not offer is refused, and not done elsewhere.
    """
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    if request.method == "POST" and (asked := request.POST.get("market", "")):
        check_is_allowed(asked)
    return study, chosen_environment(study, request.POST if request.method == "POST" else request.GET)


def tells_refusals(view: View) -> View:
    """What is refused before a form's own page is known is said, in one line, on the study's page."""

    @wraps(view)
    def tell(request: HttpRequest, name: str, *args: Any, **more: Any) -> HttpResponseBase:
        try:
            return view(request, name, *args, **more)
        except EvalPlatformError as error:
            messages.error(request, str(error))
            return redirect("study", name=name)

    return tell


def back_to_study(request: HttpRequest, study: Study) -> HttpResponse:
    """With what was typed about money in the page's other forms, which comes along (frontend/src/keeping.ts)."""
    kept = {name: request.POST[name] for name in KEPT if request.POST.get(name)}
    if "budget" in kept:
        kept.setdefault("budget_shown", "")  # typed where no budget stood
    return redirect(f"{reverse('study', args=[study.name])}{f'?{urlencode(kept)}' if kept else ''}")


def surroundings(study: Study, environment: str) -> dict[str, Any]:
    """What `hits/study_page.html` shows around each page."""
    return {"study": study, "market": environment, "offered": offered_environments()}


def user_of(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None


def delay(task: Any, *ids: object) -> None:
    send(task, *ids)
