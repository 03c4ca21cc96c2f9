"""Shows the open links of an offering with their addresses; makes, closes and reopens them; settles calls in doubt."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from hits.crowds import (
    PRESETS,
    LinkRefused,
    LinkSettings,
    calls_to_look_at,
    check_may_change,
    close_link,
    limit_addresses,
    link_address,
    links_of,
    make_link,
    read_codes,
    reopen_link,
    settle_call,
)
from hits.models import Invitation, Offering, OpenLink, Outcome
from hits.serving import MOST_PLACES_A_DAY, MOST_PLACES_AN_HOUR
from hits.views.refused import STATUS, FieldRefused, refused_form
from hits.views.study_pages import find_offering, page_address, surroundings, tells_refusals, user_of


@require_http_methods(["GET", "POST"])
@never_cache
@tells_refusals
def show_or_make(request: HttpRequest, name: str) -> HttpResponse:
    offering, refused = find_offering(request, name), None
    if request.method == "POST":
        check_may_change(offering)
        try:
            link = make_link(offering, _read(request), user_of(request), timezone.now())
        except LinkRefused as error:
            refused = refused_form("link", FieldRefused(f"link-{error.field}", str(error)), request.POST.dict())
        else:
            messages.success(request, f"The link “{link.label}” is made.")
            return _back(offering)
    preset = PRESETS.get((request.POST if refused else request.GET).get("preset", ""), PRESETS["own"])
    context = {
        **surroundings(offering),
        "links": link_rows(offering),
        "limits": {"an_hour": MOST_PLACES_AN_HOUR, "a_day": MOST_PLACES_A_DAY},
        "calls": calls_to_look_at(offering, timezone.now()),
        "refused": refused,
        "preset": preset,
        "presets": list(PRESETS.values()),
        "typed": refused.typed if refused else {"label": preset.label, "parameters": preset.parameters},
        "way": refused.typed.get("way", "") if refused else preset.way,
        "ways": WAYS,
        "outcomes": list(Outcome.values),
        "invited": Invitation.objects.filter(offering=offering).count(),
    }
    return render(request, "hits/links.html", context, status=STATUS if refused else 200)


WAYS = {
    OpenLink.Way.CODE: "They read a code, and enter it where they are asked for it (or nobody asks)",
    OpenLink.Way.REDIRECT: "Their browser goes to an address",
    OpenLink.Way.CALL: "This server calls an address, and they read a code",
}


def link_rows(offering: Offering) -> list[dict[str, Any]]:
    """Return what pages show of each link: its address, and how many came, finished and left."""
    took_part = Count("entrants", distinct=True)
    refusals = Count("departures", filter=Q(departures__outcome=Outcome.NO_CONSENT), distinct=True)
    rows = OpenLink.objects.filter(offering=offering).annotate(came=took_part, declined=refusals)
    counts = {pk: (came, declined) for pk, came, declined in rows.values_list("pk", "came", "declined")}
    return [
        {"link": one, "address": link_address(one), "came": counts[one.pk][0], "declined": counts[one.pk][1]}
        for one in links_of(offering)
    ]


DONE = {
    "close": "is closed: nobody new gets in. Whoever has begun may finish",
    "reopen": "is open again",
    "limit": "takes no more than so many people from one network",
    "lift": "takes as many people as come from one network",
}


def _read(request: HttpRequest) -> LinkSettings:
    typed = request.POST
    return LinkSettings(
        label=typed.get("label", ""),
        parameters=typed.get("parameters", ""),
        way=typed.get("way", ""),
        address=typed.get("address", ""),
        codes=read_codes(typed.get("codes", "")),
        preset=typed.get("preset", "own"),
    )


@require_POST
@tells_refusals
def change(request: HttpRequest, name: str, key: str) -> HttpResponse:
    """Close a link or open it again, or say whether it is for people in one network."""
    offering = find_offering(request, name)
    check_may_change(offering)
    by, now, wanted = user_of(request), timezone.now(), request.POST.get("do", "")
    if wanted in ("limit", "lift"):
        link = limit_addresses(offering, key, wanted == "limit", by, now)
    elif wanted == "reopen":
        link = reopen_link(offering, key, by, now)
    else:
        link = close_link(offering, key, by, now)
    messages.success(request, f"The link “{link.label}” {DONE.get(wanted, DONE['close'])}.")
    return _back(offering)


@require_POST
@tells_refusals
def settle(request: HttpRequest, name: str, call: int) -> HttpResponse:
    """Note that a call has arrived, or have it sent again: a person has looked."""
    offering = find_offering(request, name)
    check_may_change(offering)
    has_arrived = request.POST.get("do") == "arrived"
    settle_call(offering, call, has_arrived, user_of(request), timezone.now())
    messages.success(request, "Noted." if has_arrived else "It is sent again within a minute or two.")
    return _back(offering)


def _back(offering: Offering) -> HttpResponse:
    return redirect(page_address("links", offering))
