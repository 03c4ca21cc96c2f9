"""What a study's pages have in common: which marketplace they speak of, who asks, and handing work to a worker."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict

from hits.background import send
from hits.markets import offered_environments
from hits.models import MarketEnvironment, Study
from hits.sharing import study_for

ATTEMPTS_WHILE_SOMEONE_WAITS = 4


def chosen_environment(study: Study, query: QueryDict) -> str:
    """The one asked for, else the last one used."""
    offered = offered_environments()
    if (asked := query.get("market", "")) in offered:
        return asked
    last_run = study.publishing_runs.filter(environment__in=offered).first()
    return last_run.environment if last_run else MarketEnvironment.LOCAL


def find_study(request: HttpRequest, name: str) -> tuple[Study, str]:
    """A frozen one, and the marketplace that the address or the form names."""
    study = study_for(request.user, name=name, frozen_at__isnull=False)
    return study, chosen_environment(study, request.POST if request.method == "POST" else request.GET)


def surroundings(study: Study, environment: str) -> dict[str, Any]:
    """What `hits/study_page.html` shows around each page."""
    return {"study": study, "market": environment, "offered": offered_environments()}


def user_of(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None


def delay(task: Any, *ids: object) -> None:
    send(task, *ids)
