"""Shows the page of an open link: what the study is, the consent text, agree or leave; leads to the work, or out.

Nobody takes a place by looking: crawlers, previews and readers who only wonder leave nothing here. Agreeing and leaving
are posted by a form that we signed, so that they are about the text that was shown, by whom it was shown to.
"""

from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from evalplatform.client_address import client_address, is_this_machine
from evalplatform.wording import count_of
from hits.crowds import (
    Caller,
    HandBack,
    NotIdentified,
    Part,
    Way,
    cookie_of,
    crowd_of,
    find_link,
    identify,
    is_complete,
    know_again,
    note_departure,
    note_entrant,
    outcome_for,
    part_of,
    read_form,
    sign_form,
    site_of,
    visit_for,
    way_out,
    work_address,
)
from hits.models import OpenLink, Outcome
from hits.serving import MinuteCounter, Paid, Refusal, WorkRefused, introduction_of, join, paid_in

COOKIE_DAYS = 180
looks_from_address = MinuteCounter(most=300)
departures_from_address = MinuteCounter(most=30)  # as many as of a class that reads the page together
CLOSED = ("This study takes nobody at the moment", "It is over, or has not begun. {return_it}")

# How somebody leaves whom the study does not take.
OUTCOMES = {
    Refusal.NOTHING_FREE: Outcome.STUDY_FULL,
    Refusal.STUDY_COMPLETE: Outcome.STUDY_FULL,
    Refusal.STUDY_FULL: Outcome.STUDY_FULL,
    Refusal.NOT_ELIGIBLE: Outcome.SCREENED_OUT,
    Refusal.STOPPED: Outcome.SCREENED_OUT,
    Refusal.LIMIT_REACHED: Outcome.FINISHED,
}


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_or_join(request: HttpRequest, key: str) -> HttpResponse:
    link = find_link(key)
    if link is None:
        response = tell(request, "There is no study at this address", "Please check the link that you were given.")
        response.status_code = HTTPStatus.NOT_FOUND
    elif _looks_too_often(request, link):
        response = tell(request, "Please come back in a minute", "Very many visits came from your network just now.")
        response.status_code = HTTPStatus.TOO_MANY_REQUESTS
    elif request.method == "POST":
        response = _take_answer(request, link)
    else:
        response = _show(request, link)
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
        # A browser takes a redirect after a form for a part of its action.
        f"form-action 'self' {site_of(link) if link else ''}; frame-ancestors 'none'"
    )
    return response


def _looks_too_often(request: HttpRequest, link: OpenLink) -> bool:
    address = client_address(request)
    return bool(address) and not is_this_machine(address) and not looks_from_address.allows((link.pk, address))


# --- Looking ---------------------------------------------------------------------------------------------------------


def _show(request: HttpRequest, link: OpenLink) -> HttpResponse:
    try:
        caller = identify(link, request.GET.dict(), request.COOKIES.get(_cookie_name(link), ""))
    except NotIdentified as problem:
        return tell(request, "We can't tell who you are", str(problem))
    part = part_of(link.offering, caller.worker_id, timezone.now())
    if not part.is_begun:
        if part.is_blocked:
            return _refuse(request, link, caller, WorkRefused(Refusal.STOPPED), part)
        if part.done and not part.has_more:
            return _thank(request, link, caller)
        if not part.is_open or link.closed_at is not None:
            heading, message = CLOSED
            return tell(request, heading, message.format(return_it=crowd_of(link.offering).words.return_it))
        if not part.has_more:
            refusal = Refusal.STUDY_COMPLETE if is_complete(link.offering) else Refusal.NOTHING_FREE
            return _refuse(request, link, caller, WorkRefused(refusal), part)
    study = link.offering.study
    words = crowd_of(link.offering).words
    page = introduction_of(link.offering)
    context = {
        "page": page,
        "title": page["title"],
        "language": study.parsed_design.task.language,
        "facts": facts_of(page),
        "is_rehearsal": paid_in(link.offering) == Paid.REHEARSED,
        "part": part,
        "done": count_of(part.done, words.hit, words.hits),
        "keeps_cookie": bool(cookie_of(link, caller)),
        "cookie_days": COOKIE_DAYS,
        "is_limited": not link.is_for_one_network,
        "signed": sign_form(link, caller, page["consent_version"]),
        "crowd": words,
    }
    return render(request, "work/joining.html", context)


def facts_of(page: dict[str, Any]) -> list[tuple[str, str]]:
    facts, crowd = page["facts"], page["crowd"]
    minutes = count_of(facts["expected_minutes"], "minute") if facts["expected_minutes"] != 1 else "a minute"
    each = f" for each {crowd['hit']}" if facts["max_hits"] > 1 else ""
    pay = facts["unpaid"]
    if facts["reward"]:
        bonus = f"; {facts['bonus']} more with the bonus" if facts["bonus"] else ""
        pay = f"{facts['reward']}{each}, which is {facts['hourly']} an hour at this pace{bonus}"
    rows = [
        ("Who asks", facts["requester"]),
        ("Work", f"{count_of(facts['dialogs'], 'short conversation')}{each}"),
        ("Time", f"about {minutes}{each}; you have up to {count_of(facts['time_limit_minutes'], 'minute')}"),
        ("Pay", pay),
    ]
    if facts["reward"]:
        rows.append(("Who pays", "whoever invited you, on the way that they told you: not this page"))
    limit = facts["max_hits"]
    if limit > 1:
        rows.append(("Limit", f"up to {count_of(limit, crowd['hit'], crowd['hits'])} of this study for each person"))
    return rows


# --- Answering -------------------------------------------------------------------------------------------------------


def _take_answer(request: HttpRequest, link: OpenLink) -> HttpResponse:
    read = read_form(link, request.POST.get("signed", ""))
    if read is None or is_sent_by_another_site(request):
        return tell(request, "This page has to be opened again", "Please open the link once more, and answer there.")
    caller, consent_version = read
    caller = know_again(link, caller, request.COOKIES.get(_cookie_name(link), ""))
    if request.POST.get("answer") == "agree":
        return _join(request, link, caller, consent_version)
    note_departure_from(request, link, Outcome.NO_CONSENT, consent_version)
    return _leave(request, way_out(link, Outcome.NO_CONSENT, caller.id_there, caller.session))


def is_sent_by_another_site(request: HttpRequest) -> bool:
    """Return whether a page of somebody else's has sent the form: it would make the reader of that page work in another
    person's name. Every browser that can run the study says it, and there are no sessions here for Django's token."""
    return request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")


def _join(request: HttpRequest, link: OpenLink, caller: Caller, consent_version: str) -> HttpResponse:
    offering, now = link.offering, timezone.now()
    part = part_of(offering, caller.worker_id, now)
    if link.closed_at is not None and not part.is_begun:
        return _show(request, link)
    visit = visit_for(offering, caller.worker_id, caller.session)
    # People whom a class or a lab sends come from one address, and the researchers have said so.
    address = "" if link.is_for_one_network else client_address(request)
    try:
        join(offering.study.key, visit, consent_version, now, address)
    except WorkRefused as refused:
        return _refuse(request, link, caller, refused, part)
    note_entrant(link, caller, now)
    response = HttpResponseRedirect(work_address(offering, visit), status=HTTPStatus.SEE_OTHER)
    if kept := cookie_of(link, caller):
        response.set_cookie(
            _cookie_name(link),
            kept,
            max_age=COOKIE_DAYS * 24 * 3600,
            path=request.path,
            secure=request.is_secure(),
            httponly=True,
            samesite="Lax",
        )
    return response


def _cookie_name(link: OpenLink) -> str:
    return f"joined-{link.key}"


# --- Leaving ---------------------------------------------------------------------------------------------------------


def note_departure_from(request: HttpRequest, link: OpenLink, outcome: Outcome, consent_version: str) -> None:
    """Count a departure, unless one address sends them by the dozen: papers say how many declined."""
    address = client_address(request)
    if is_this_machine(address) or departures_from_address.allows((link.pk, address)):
        note_departure(link, outcome, consent_version, timezone.now())


def _leave(request: HttpRequest, out: HandBack | None) -> HttpResponse:
    if out is not None and out.way == Way.REDIRECT:
        return HttpResponseRedirect(out.action, status=HTTPStatus.SEE_OTHER)
    message = "That is fine. Nothing about you was kept, and you can close this page."
    return tell(request, "You don't take part", message, out)


def _refuse(request: HttpRequest, link: OpenLink, caller: Caller, refused: WorkRefused, part: Part) -> HttpResponse:
    crowd = crowd_of(link.offering)
    words = refused.words(crowd.words, paid_in(link.offering))
    outcome = OUTCOMES.get(refused.refusal)
    if part.done:
        outcome = outcome_for(link, caller.worker_id, caller.session)
    elif outcome is not None and request.method == "POST":  # a look, by a crawler perhaps, is no departure
        version = link.offering.study.parsed_design.task.consent_version
        note_departure_from(request, link, outcome, version)
    may_know = not part.done or _may_know(caller, outcome)
    out = way_out(link, outcome, caller.id_there, caller.session) if outcome and may_know else None
    return tell(request, words.heading or "This did not work", words.message, out)


def _thank(request: HttpRequest, link: OpenLink, caller: Caller) -> HttpResponse:
    message = "You have done all that there is for you in this study. Your answers are safe with us."
    outcome = outcome_for(link, caller.worker_id, caller.session)
    out = way_out(link, outcome, caller.id_there, caller.session) if _may_know(caller, outcome) else None
    return tell(request, "Thank you", message, out)


def _may_know(caller: Caller, outcome: Outcome | None) -> bool:
    """Return whether somebody whose id has finished may read the code of this outcome. Where an id is all that the
    address says, a browser that handed nothing in reads none: a stranger may have typed the id."""
    return outcome == Outcome.FINISHED or not caller.has_made_up_session


def tell(request: HttpRequest, heading: str, message: str, out: HandBack | None = None) -> HttpResponse:
    return render(request, "work/left.html", {"heading": heading, "message": message, "out": out})
