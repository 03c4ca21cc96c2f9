"""Makes a study's share links, shows each once, and revokes them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from evalplatform.errors import EvalPlatformError
from hits.access import MOST_DAYS, can_invite, make_share_link, revoke_share_link, valid_links
from hits.views.refused import STATUS, FieldRefused, refused_form
from hits.views.study_pages import find_offering, page_address, surroundings, tells_refusals, user_of

USUAL_DAYS = 30


@require_http_methods(["GET", "POST"])
@never_cache
@tells_refusals
def show_or_make(request: HttpRequest, name: str) -> HttpResponse:
    """Show the links, or make one. A new link appears in the answer to this request and nowhere else."""
    offering, user, address, refused = find_offering(request, name), user_of(request), "", None
    if request.method == "POST":
        try:
            shows_dialogs = request.POST.get("shows_dialogs") == "yes"
            label, days = request.POST.get("label", ""), _days(request.POST.get("days", ""))
            token = make_share_link(offering, label, days, shows_dialogs, user, timezone.now())
            address = request.build_absolute_uri(reverse("shared-results", args=[token]))
        except EvalPlatformError as error:
            refused = refused_form("share", error, request.POST.dict(), "share-label")
    context = {
        **surroundings(offering),
        "links": valid_links(offering.study, timezone.now()).select_related("offering", "made_by"),
        "address": address,
        "refused": refused,
        "can_share": can_invite(offering.study, user),
        "usual_days": USUAL_DAYS,
        "most_days": MOST_DAYS,
    }
    return render(request, "hits/share_links.html", context, status=STATUS if refused else 200)


@require_POST
@tells_refusals
def revoke(request: HttpRequest, name: str, key: int) -> HttpResponse:
    offering = find_offering(request, name)
    revoke_share_link(offering.study, key, user_of(request), timezone.now())
    messages.success(request, "The link is revoked: it opens nothing any more.")
    return redirect(page_address("share-links", offering))


def _days(typed: str) -> int:
    if not typed.strip().isdecimal() or len(typed) > 6:
        raise FieldRefused("share-days", f"Write a whole number of days, from 1 to {MOST_DAYS}.")
    return int(typed)
