"""Shows raters who were invited by name a page of their own: what is done, in hand and left; agree, begin, go on.

The address is the key. Looking takes no place and begins nothing, so that mail programs may look as they like; what is
in hand goes on on any device; two devices that begin at once get the same HIT.
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
    OwnProgress,
    crowd_of,
    find_invitation,
    link_of_invited,
    may_one_more_decline,
    note_entrant,
    note_opened,
    own_progress,
    read_form,
    sign_form,
    visit_for,
    work_address,
)
from hits.models import Assignment, Invitation, Outcome
from hits.serving import MinuteCounter, Paid, Refusal, WorkRefused, introduction_of, join, paid_in
from hits.views.joining_page import facts_of, is_sent_by_another_site, note_departure_from, tell

wrong_links_from_address = MinuteCounter(most=60)
# Links at which somebody has declined, so that one counts once. It is in this process's memory alone: who does not
# agree leaves nothing of themselves in the database (decision 32). Another process may count them again, but never more
# than there are raters who have not agreed.
_declined: set[str] = set()

NOT_ONES = "Please check that the address is complete, or ask whoever invited you for a new link."
OVER = "This study takes nobody at the moment: it is over, or has not begun."
NOTHING_FREE = (
    "There is nothing left for you at the moment. If somebody stops halfway, a place becomes free: look in again."
)
ALL_DONE = "You have done all that there is for you in this study: thank you! Your answers are safe with us."
DECLINED = "That is fine: nothing was stored of it. If you change your mind, open your link again."


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_or_begin(request: HttpRequest, secret: str) -> HttpResponse:
    response = _answer(request, secret)
    response.headers["Referrer-Policy"] = "no-referrer"  # the address is the key
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    )
    return response


def _answer(request: HttpRequest, secret: str) -> HttpResponse:
    invitation = find_invitation(secret)
    if invitation is None:
        return _refuse_guess(request)
    if invitation.revoked_at is not None:
        return _refuse(request, invitation, WorkRefused(Refusal.REVOKED))
    if request.method == "POST":
        return _take_answer(request, invitation)
    if _is_opened_by_somebody(request):
        note_opened(invitation, timezone.now())
    return _show(request, invitation)


def _refuse_guess(request: HttpRequest) -> HttpResponse:
    address = client_address(request)
    if not is_this_machine(address) and not wrong_links_from_address.allows(address):
        response = tell(request, "Please wait a minute", "There were many wrong addresses from your network.")
        response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        return response
    response = tell(request, "There is no invitation at this address", NOT_ONES)
    response.status_code = HTTPStatus.NOT_FOUND
    return response


def _is_opened_by_somebody(request: HttpRequest) -> bool:
    """Return whether a browser has gone to the page, other than ahead of its reader. Programs that look at the links in
    mails mostly send no such header; every browser that can run the study does, on https."""
    is_ahead = "prefetch" in request.headers.get("Sec-Purpose", "")
    return request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate" and not is_ahead


# --- Looking ---------------------------------------------------------------------------------------------------------


def _show(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    offering = invitation.offering
    words, now = crowd_of(offering).words, timezone.now()
    progress = own_progress(invitation, now)
    page = introduction_of(offering)
    caller = Caller(invitation.worker_id)
    context = {
        "page": page,
        "title": page["title"],
        "language": offering.study.parsed_design.task.language,
        "greeting": f"Hello, {invitation.name}" if invitation.name else "Hello",
        "message": _message(progress, offering.study.parsed_design.crowd.max_hits_per_worker),
        "is_rehearsal": paid_in(offering) == Paid.REHEARSED,
        "has_agreed": _has_agreed(invitation, page["consent_version"]),
        "part": progress.part,
        "may_begin": progress.part.has_more and not progress.part.is_begun,
        "progress": _progress_rows(progress, words.hit, words.hits),
        "facts": [_without_haste(row, page["facts"]) for row in facts_of(page) if row[0] != "Limit"],
        "signed": sign_form(link_of_invited(offering, now), caller, page["consent_version"]),
    }
    return render(request, "work/invited.html", context)


def _has_agreed(invitation: Invitation, consent_version: str) -> bool:
    """Return whether they handed in work under this very text: the agreement holds for their next HIT, too."""
    theirs = Assignment.objects.filter(offering=invitation.offering, crowd_worker_id=invitation.worker_id)
    return theirs.filter(consent_version=consent_version, submitted_at__isnull=False).exists()


def _message(progress: OwnProgress, limit: int) -> str:
    """Say why there is nothing to do, if there is nothing."""
    part = progress.part
    if part.is_begun or part.has_more:
        return ""
    if part.done >= limit or (part.done and part.is_open):
        return ALL_DONE
    thanks = "Thank you for what you have done: it is safe with us. " if part.done else ""
    return thanks + (NOTHING_FREE if part.is_open and not part.is_blocked else OVER)


def _progress_rows(progress: OwnProgress, hit: str, hits: str) -> list[tuple[str, str]]:
    part = progress.part
    done = f"{count_of(part.done, hit, hits)}, {count_of(progress.dialogs_done, 'conversation')}"
    rows = [("Done", done if part.done else "nothing yet")]
    if part.is_begun:
        begun = f"{progress.dialogs_begun} of {count_of(progress.dialogs_in_hand, 'conversation')}"
        rows.append(("In hand", f"one {hit}: you have worked on {begun}"))
    more = "more " if part.done or part.is_begun else ""
    rows.append(("Left for you", f"up to {progress.left:,} {more}{hit if progress.left == 1 else hits}"))
    if not progress.left:
        rows[-1] = ("Left for you", "nothing more" if more else "nothing at the moment")
    return rows


def _without_haste(row: tuple[str, str], facts: dict[str, Any]) -> tuple[str, str]:
    """Say of the time limit what it means here: breaks are welcome, and late work counts."""
    if row[0] != "Time":
        return row
    about = row[1].partition(";")[0]
    limit = count_of(facts["time_limit_minutes"], "minute")
    return (
        "Time",
        f"{about}; breaks are fine: your place is kept for {limit}, and what you have begun counts later, too",
    )


# --- Answering -------------------------------------------------------------------------------------------------------


def _take_answer(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    offering, now = invitation.offering, timezone.now()
    link = link_of_invited(offering, now)
    read = read_form(link, request.POST.get("signed", ""))
    if read is None or read[0].worker_id != invitation.worker_id or is_sent_by_another_site(request):
        return tell(request, "This page has to be opened again", "Please open your link once more, and answer there.")
    caller, consent_version = read
    if request.POST.get("answer") != "agree":
        if invitation.key not in _declined and may_one_more_decline(link):
            _declined.add(invitation.key)
            note_departure_from(request, link, Outcome.NO_CONSENT, consent_version)
        return tell(request, "You don't take part", DECLINED)
    visit = visit_for(offering, invitation.worker_id, invitation.key)
    try:
        # Without a limit to the places of one address: these are people whom somebody knows, perhaps in one room.
        join(offering.study.key, visit, consent_version, now)
    except WorkRefused as refused:
        return _refuse(request, invitation, refused)
    note_opened(invitation, now)
    note_entrant(link, caller, now)
    return HttpResponseRedirect(work_address(offering, visit), status=HTTPStatus.SEE_OTHER)


def _refuse(request: HttpRequest, invitation: Invitation, refused: WorkRefused) -> HttpResponse:
    crowd = crowd_of(invitation.offering)
    words = refused.words(crowd.words, paid_in(invitation.offering))
    response = tell(request, words.heading or "This did not work", words.message)
    response.status_code = HTTPStatus.FORBIDDEN
    return response
