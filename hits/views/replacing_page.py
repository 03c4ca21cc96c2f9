"""Replaces work that a study has lost: shows the cost, then a background process requests the replacements."""

import re
from typing import Any

from django.contrib import messages
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access import note_event
from hits.budgeting import budget_of
from hits.crowds import check_may_change, open_crowd, worker_page_url
from hits.models import Offering, Replacement
from hits.models.money import money
from hits.replacing import (
    deleted_hits,
    describe_replaced,
    hits_elsewhere,
    losses,
    put_up_cents,
    replace_lost_assignments,
)
from hits.tasks import put_hits_up_again, replace_assignments_of_offering
from hits.views.study_pages import (
    ATTEMPTS_WHILE_SOMEONE_WAITS,
    delay,
    find_offering,
    page_address,
    tells_refusals,
    user_of,
)


def replacing_panel(offering: Offering, is_asked: bool) -> dict[str, Any]:
    """Return what was lost as far as we know and, if `is_asked`, what replacing it would cost, by the marketplace."""
    lost = losses(offering).values()
    standing = Replacement.objects.standing().filter(offering=offering)
    sums = standing.aggregate(added=Sum("added"), reopened=Sum("reopened"))
    panel = {
        "lost": sum(one.count for one in lost),
        "excluded": sum(one.excluded for one in lost),
        "rejected": sum(one.rejected for one in lost),
        "beyond_share": sum(one.beyond_share for one in lost),
        "added": sums["added"] or 0,
        "reopened": sums["reopened"] or 0,
        "is_by_itself": offering.study.parsed_design.hits.replacements == "at each sync",
    }
    if is_asked:
        try:
            panel |= _proposal(offering)
        except EvalPlatformError as error:
            panel["problem"] = str(error)
    return panel


@require_POST
@tells_refusals
def replace_lost(request: HttpRequest, name: str) -> HttpResponse:
    """Request the replacements. The cost that the page has shown is their budget, so they never cost more."""
    offering = find_offering(request, name)
    user = user_of(request)
    budget = request.POST.get("budget_cents", "")
    try:
        check_may_change(offering)
        if not re.fullmatch("[0-9]{1,15}", budget):
            raise EvalPlatformError("Look at what it costs first.")
        delay(
            replace_assignments_of_offering,
            offering,
            int(budget),
            user.pk if user else None,
        )
        text = f"asked for replacements of what was lost ({offering.marketplace})"
        note_event(offering.study, text, user, timezone.now())
        messages.info(request, "Requested. This page shows the progress and the outcome below.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect(page_address("monitor", offering))


def again_panel(offering: Offering) -> list[dict[str, Any]]:
    """List HITs that can be put up again, as far as we know: deleted on the marketplace, or leading elsewhere."""
    try:
        page_url = worker_page_url(offering)
    except EvalPlatformError:
        return []  # nothing can be put up from here
    elsewhere = hits_elsewhere(offering, page_url)
    found = [("deleted", deleted_hits(offering)), ("elsewhere", elsewhere)]
    return [
        {
            "which": which,
            "count": len(wanted),
            "assignments": sum(one.places for one in wanted),
            "cents": put_up_cents(offering, wanted),
            "cost": money(put_up_cents(offering, wanted), offering.currency),
            "addresses": sorted({one.publication.page_url for one in wanted}),
            "page_url": page_url,
        }
        for which, wanted in found
        if wanted
    ]


@require_POST
@tells_refusals
def put_up(request: HttpRequest, name: str) -> HttpResponse:
    """Put up the HITs that the page has shown. If something has changed since, the researcher must look again."""
    offering = find_offering(request, name)
    user = user_of(request)
    which, cents = request.POST.get("which", ""), request.POST.get("cents", "")
    try:
        check_may_change(offering)
        offers = {(one["which"], str(one["cents"])): one for one in again_panel(offering)}
        if (which, cents) not in offers:
            raise EvalPlatformError("Something has changed since you looked. Look again, and put them up then.")
        delay(put_hits_up_again, offering, which == "elsewhere", user.pk if user else None)
        text = f"asked for {count_of(offers[which, cents]['count'], 'HIT')} to be put up again ({offering.marketplace})"
        note_event(offering.study, text, user, timezone.now())
        messages.info(request, "They are put up again in the background. The outcome will appear under Lately.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect(page_address("monitor", offering))


def _proposal(offering: Offering) -> dict[str, Any]:
    market = open_crowd(offering, ATTEMPTS_WHILE_SOMEONE_WAITS)
    wanted = replace_lost_assignments(offering, market, timezone.now, is_dry_run=True)
    lines = describe_replaced(wanted, offering.currency)
    return {
        "lines": lines,
        "notes": lines[1:],
        "count": wanted.added + wanted.reopened,
        "cost": money(wanted.cents, offering.currency),
        "budget_cents": budget_of(offering).committed_cents + wanted.cents,
    }
