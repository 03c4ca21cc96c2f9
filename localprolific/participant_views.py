"""Serve participants' pages: who one is, studies on offer, reserve, go, return, complete by code, and what was earned.

They need no log-in from this machine, and exist only where rehearsals run (openness.py): anybody may be any
participant.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evalplatform.middleware import CONTENT_SECURITY_POLICY
from localprolific import participant_rows as rows
from localprolific.errors import Refused
from localprolific.hook_sending import send_soon
from localprolific.models import Participant, ProlificStudy, ProlificSubmission
from localprolific.openness import is_open_to
from localprolific.panel_clock import Clock
from localprolific.participating import complete, reserve, return_submission, start, studies_on_offer
from localprolific.seeding import ensure_participants

COOKIE = "localprolific_participant"
MOST_PAST = 50
MOST_SIMULATED = 200

View = Callable[..., HttpResponse]
ParticipantView = Callable[Concatenate[HttpRequest, Participant, ...], HttpResponse]


def prolific_page(view: View) -> View:
    @login_not_required
    @wraps(view)
    def show(request: HttpRequest, **ids: str) -> HttpResponse:
        if not is_open_to(request):
            raise Http404
        return view(request, **ids)

    return show


def participant_page(view: ParticipantView) -> View:
    """Call the view with the participant who was chosen; if nobody was, go to that page first."""

    @prolific_page
    @wraps(view)
    def show(request: HttpRequest, **ids: str) -> HttpResponse:
        participant = participant_of(request)
        if participant is None:
            return redirect("prolific")
        return view(request, participant, **ids)

    return show


@prolific_page
@require_http_methods(["GET", "HEAD", "POST"])
def choose_participant(request: HttpRequest) -> HttpResponse:
    ensure_participants()
    given = request.POST.get("participant", "").replace("\0", "")
    chosen = Participant.objects.filter(participant_id=given).first()
    if chosen is None:
        current = participant_of(request)
        everybody = Participant.objects.all()
        simulated = everybody.filter(is_simulated=True)
        context = {
            "rows": [rows.person_row(one, current) for one in everybody.filter(is_simulated=False)],
            "simulated": [rows.person_row(one, current) for one in simulated[:MOST_SIMULATED]],
            "participant": current,
        }
        return render(request, "localprolific/people.html", context)
    response = redirect("prolific-studies")
    options = {"path": reverse("prolific"), "httponly": True, "samesite": "Lax", "secure": request.is_secure()}
    response.set_signed_cookie(COOKIE, chosen.participant_id, salt=COOKIE, **options)
    return response


@participant_page
@require_GET
def show_studies(request: HttpRequest, participant: Participant) -> HttpResponse:
    now = Clock().now()
    offers = [rows.offer_row(offer) for offer in studies_on_offer(participant, now)]
    own = participant.submissions.select_related("study__workspace").order_by("-reserved_at", "-pk")
    work = [rows.work_row(one, now) for one in own[:MOST_PAST]]
    context = {
        "participant": participant,
        "offers": offers,
        "under_way": [one for one in work if one.can_go],
        "past": [one for one in work if not one.can_go],
    }
    return render(request, "localprolific/studies.html", context)


@participant_page
@require_POST
def reserve_place(request: HttpRequest, participant: Participant, study_id: str) -> HttpResponse:
    study = get_object_or_404(ProlificStudy.objects.undeleted(), study_id=study_id)
    try:
        submission = reserve(participant, study, Clock().now())
    except Refused as refused:
        return _tell(request, participant, "You can't take part in this study", str(refused), 409)
    send_soon()
    return redirect("prolific-submission", submission_id=submission.submission_id)


@participant_page
@require_GET
def show_submission(request: HttpRequest, participant: Participant, submission_id: str) -> HttpResponse:
    submission = _own(participant, submission_id)
    row = rows.work_row(submission, Clock().now())
    response = render(request, "localprolific/submission.html", {"participant": participant, "work": row})
    # The button posts to us and is sent on to the study's page, which browsers count as part of the form's way.
    url = urlsplit(submission.url)
    policy = CONTENT_SECURITY_POLICY.replace("form-action 'self'", f"form-action 'self' {url.scheme}://{url.netloc}")
    response.headers["Content-Security-Policy"] = policy
    return response


@participant_page
@require_POST
def go_to_study(request: HttpRequest, participant: Participant, submission_id: str) -> HttpResponse:
    try:
        url = start(_own(participant, submission_id), Clock().now())
    except Refused as refused:
        return _tell(request, participant, "You can't go on with this study", str(refused), 409)
    send_soon()
    return HttpResponse(status=303, headers={"Location": url})


@participant_page
@require_POST
def return_place(request: HttpRequest, participant: Participant, submission_id: str) -> HttpResponse:
    try:
        return_submission(_own(participant, submission_id), Clock().now())
    except Refused as refused:
        return _tell(request, participant, "This can't be returned", str(refused), 409)
    send_soon()
    return redirect("prolific-submission", submission_id=submission_id)


@prolific_page
@require_GET
def complete_work(request: HttpRequest) -> HttpResponse:
    """Take a completion code from the address, as Prolific does when a study sends people back to it."""
    participant = participant_of(request)
    if participant is None:
        words = "Your browser does not know who you are here. Choose your participant, and open the address again."
        return _tell(request, None, "Who are you?", words, 409)
    code = request.GET.get("cc", "").strip().replace("\0", "")[:200]
    try:
        submission = complete(participant, code, Clock().now())
    except Refused as refused:
        return _tell(request, participant, "Nothing to complete", str(refused), 409)
    send_soon()
    words = rows.SENTENCES[ProlificSubmission.Status(submission.status)]
    if submission.arrives_at is not None:
        words = "You have completed it. It takes a moment until the researcher sees that."
    return _tell(request, participant, "Thank you!", words, 200)


@prolific_page
@require_GET
def show_earnings(request: HttpRequest) -> HttpResponse:
    context = {"participant": participant_of(request), "rows": rows.earned_rows(), "most": rows.MOST_EARNED_ROWS}
    return render(request, "localprolific/earned.html", context)


def participant_of(request: HttpRequest) -> Participant | None:
    participant_id = request.get_signed_cookie(COOKIE, default="", salt=COOKIE) or ""
    return Participant.objects.filter(participant_id=participant_id).first()


def _own(participant: Participant, submission_id: str) -> ProlificSubmission:
    own = participant.submissions.select_related("study__workspace", "participant")
    return get_object_or_404(own, submission_id=submission_id)


def _tell(request: HttpRequest, participant: Participant | None, title: str, words: str, status: int) -> HttpResponse:
    context = {"participant": participant, "title": title, "words": words}
    return render(request, "localprolific/told.html", context, status=status)
