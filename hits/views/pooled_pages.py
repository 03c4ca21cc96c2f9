"""Decides whether a results page is about one offering or several together, and what stands around the latter."""

from typing import Any

from django.http import HttpRequest

from hits.access import study_for
from hits.analysing import describe_left_out, describe_origin, find_pool, offerings_of, origin_of_scope, pools_of
from hits.crowds import environment_of, offered_marketplaces
from hits.models import Pool, Scope, ScreeningRun, Study, origin_of_pool
from hits.screening import pooled_warning, screening_warning
from hits.tasks import compute_results_of_offering, compute_results_of_pool
from hits.views.screening_rows import funnel_table
from hits.views.study_pages import delay, find_offering, surroundings

LABELS = {"people": "Together: people", "simulation": "Together: simulated", "rehearsal": "Together: rehearsed"}


def find_scope(request: HttpRequest, name: str) -> Scope:
    """Find what the address or the form names: a pool of offerings (`market=together.people`), or one offering."""
    query = request.POST if request.method == "POST" else request.GET
    origin = origin_of_pool(query.get("market", ""))
    if not origin:
        return find_offering(request, name)
    return find_pool(study_for(request.user, name=name, frozen_at__isnull=False), origin)


def surroundings_of(scope: Scope) -> dict[str, Any]:
    """Return what `hits/study_page.html` shows around a page about a pool, or about one offering."""
    together = {"pools": _pool_links(scope.study)}
    if not isinstance(scope, Pool):
        return {**surroundings(scope), **together}
    offerings = offerings_of(scope)
    return {
        **together,
        "study": scope.study,
        "market": scope.marketplace,
        "has_links": False,
        "market_kind": environment_of(offerings[0]).kind if offerings else "",
        "offered": list(offered_marketplaces().values()),
        "origin_words": lambda: describe_origin(origin_of_scope(scope)),
        "together": [one.marketplace for one in offerings],
        "left_out": describe_left_out(scope),
        "screenings": [
            {"market": one.marketplace, "screening": run and funnel_table(run)}
            for one in offerings
            for run in [ScreeningRun.objects.current(one)]
        ],
    }


def _pool_links(study: Study) -> list[dict[str, str]]:
    return [{"name": pool.marketplace, "label": LABELS[pool.origin]} for pool in pools_of(study)]


def screening_of_scope(scope: Scope) -> dict[str, Any]:
    """Say whether the work was screened, and what is wrong with that."""
    offerings = offerings_of(scope)
    return {
        "screening_warning": pooled_warning(offerings) if isinstance(scope, Pool) else screening_warning(scope),
        "is_screened": any(ScreeningRun.objects.current(one) is not None for one in offerings),
    }


def send_results_task(scope: Scope) -> None:
    delay(compute_results_of_pool if isinstance(scope, Pool) else compute_results_of_offering, scope)
