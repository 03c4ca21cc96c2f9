"""Replacements for what a study has lost: what they cost first, then a worker asks the marketplace for them."""

import re
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access.events import note_event
from hits.budgeting.budget import budget_of
from hits.crowds.opening import check_may_change, open_market, worker_page_url
from hits.designing.design_words import dollars
from hits.models import Replacement, Study
from hits.models.design import StudyDesign
from hits.replacing.putting_up_again import deleted_hits, hits_elsewhere, put_up_cents
from hits.replacing.requesting import describe_replaced, losses, replace_lost_assignments
from hits.tasks import put_hits_up_again, replace_assignments_of_study
from hits.views.study_pages import ATTEMPTS_WHILE_SOMEONE_WAITS, delay, find_study, tells_refusals, user_of


def replacing_panel(study: Study, environment: str, is_asked: bool) -> dict[str, Any]:
    """What was lost, as we know it; if it is asked for, what the marketplace would give for it."""
    lost = losses(study, environment).values()
    standing = Replacement.objects.standing().filter(hit__study=study, environment=environment)
    sums = standing.aggregate(added=Sum("added"), reopened=Sum("reopened"))
    panel = {
        "lost": sum(one.count for one in lost),
        "excluded": sum(one.excluded for one in lost),
        "rejected": sum(one.rejected for one in lost),
        "beyond_share": sum(one.beyond_share for one in lost),
        "added": sums["added"] or 0,
        "reopened": sums["reopened"] or 0,
        "is_by_itself": StudyDesign.model_validate(study.design).hits.replacements == "at each sync",
    }
    if is_asked:
        try:
            panel |= _proposal(study, environment)
        except EvalPlatformError as error:
            panel["problem"] = str(error)
    return panel


@require_POST
@tells_refusals
def replace_lost(request: HttpRequest, name: str) -> HttpResponse:
    """Never beyond what was shown: that is the budget it is given."""
    study, environment = find_study(request, name)
    user = user_of(request)
    budget = request.POST.get("budget_cents", "")
    try:
        check_may_change(study, environment)
        if not re.fullmatch("[0-9]{1,15}", budget):
            raise EvalPlatformError("Look at what it costs first.")
        delay(replace_assignments_of_study, study.pk, environment, int(budget), user.pk if user else None)
        text = f"asked for replacements of what was lost ({environment})"
        note_event(study, text, user, timezone.now())
        messages.info(request, "Asked for. How far it is, and what comes of it, is said below.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('monitor', args=[study.name])}?{urlencode({'market': environment})}")


def again_panel(study: Study, environment: str) -> list[dict[str, Any]]:
    """HITs that can be put up again, as far as we know: deleted on the marketplace, and leading to another address."""
    try:
        page_url = worker_page_url(environment)
    except EvalPlatformError:
        return []  # nothing can be put up from here
    elsewhere = hits_elsewhere(study, environment, page_url)
    found = [("deleted", deleted_hits(study, environment)), ("elsewhere", elsewhere)]
    return [
        {
            "which": which,
            "count": len(wanted),
            "assignments": sum(one.places for one in wanted),
            "cents": put_up_cents(study, wanted),
            "cost": dollars(put_up_cents(study, wanted)),
            "addresses": sorted({one.publication.page_url for one in wanted}),
            "page_url": page_url,
        }
        for which, wanted in found
        if wanted
    ]


@require_POST
@tells_refusals
def put_up(request: HttpRequest, name: str) -> HttpResponse:
    """Only what was shown: if something has changed since, it has to be looked at again."""
    study, environment = find_study(request, name)
    user = user_of(request)
    which, cents = request.POST.get("which", ""), request.POST.get("cents", "")
    try:
        check_may_change(study, environment)
        offers = {(one["which"], str(one["cents"])): one for one in again_panel(study, environment)}
        if (which, cents) not in offers:
            raise EvalPlatformError("Something has changed since you looked. Look again, and put them up then.")
        delay(put_hits_up_again, study.pk, environment, which == "elsewhere", user.pk if user else None)
        text = f"asked for {count_of(offers[which, cents]['count'], 'HIT')} to be put up again ({environment})"
        note_event(study, text, user, timezone.now())
        messages.info(request, "They are put up again in the background. What came of it is said under Lately.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('monitor', args=[study.name])}?{urlencode({'market': environment})}")


def _proposal(study: Study, environment: str) -> dict[str, Any]:
    market = open_market(study, environment, ATTEMPTS_WHILE_SOMEONE_WAITS)
    wanted = replace_lost_assignments(study, environment, market, timezone.now, is_dry_run=True)
    lines = describe_replaced(wanted)
    return {
        "lines": lines,
        "notes": lines[1:],
        "count": wanted.added + wanted.reopened,
        "cost": dollars(wanted.cents),
        "budget_cents": budget_of(study, environment).committed_cents + wanted.cents,
    }
