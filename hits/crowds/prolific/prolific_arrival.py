"""Tells who comes from Prolific, confirms it through the API, and says how people get back there."""

import re
from datetime import timedelta

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.crowds.coming_and_going import CANT_TELL, HandBack, Held, Preview, Visit, Way, Word
from hits.crowds.noting import crowd_notes
from hits.crowds.prolific.link_tokens import Verdict, check_token
from hits.crowds.prolific.prolific_client import ProlificClient, ProlificRefused
from hits.crowds.prolific.prolific_environments import LOCAL, PRODUCTION, PROLIFIC
from hits.crowds.prolific.settling_study import CODE
from hits.crowds.prolific.study_fields import FINISHED, NO_CONSENT, PLACE, STUDY_FULL
from hits.crowds.prolific.submissions_there import LATE, WORKING, participant_of, status_word, time_of
from hits.models import Assignment, Offering, Outcome, Study
from localprolific.openness import is_open as is_local_prolific_open

SITE = "https://app.prolific.com"
COMPLETE = "/submissions/complete"
LOCAL_SITE = "/localprolific"
LOOK = "prolific_look"
# Set in the WSGI environment when a simulated crowd in this process requests a page. No header can get this name.
IN_THIS_PROCESS = "evalplatform.simulated_crowd"
CODES = {
    Outcome.STUDY_FULL: STUDY_FULL,
    Outcome.NO_CONSENT: NO_CONSENT,
    Outcome.SCREENED_OUT: STUDY_FULL,  # no work was done in either case, and Prolific asks them to return it
}
RETURN_NOTE = "Prolific will ask you to return your submission: that does not count against you, and frees you at once."

log = structlog.get_logger("hits.crowds.prolific.arrival")


def arrival(request: HttpRequest) -> Visit | Preview | None:
    """Return who has come. What the address says is a claim, which `ask_holder` confirms."""
    if LOOK in request.GET:
        return Preview(PROLIFIC)
    participant, study, submission = (request.GET.get(name, "") for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
    if not participant or PLACE not in request.GET:
        return None
    environment = request.GET[PLACE]
    # They have 24 hexadecimal digits, says one client. So what decides is Prolific's answer about them.
    is_plain = all(re.fullmatch(r"[0-9A-Za-z]{8,64}", one) for one in (participant, study, submission))
    if not is_plain or not _is_offered(environment, request):
        return Visit(PROLIFIC, "", submission, participant)
    if token := request.GET.get("prolific_token"):
        ids = {"participant_id": participant, "study_id": study, "submission_id": submission}
        if check_token(token, environment, ids) == Verdict.FALSE:
            return Visit(PROLIFIC, "", submission, participant)
    elif _wants_token(request):  # or else whoever can't sign a link would just leave the token out
        return Visit(PROLIFIC, "", submission, participant)
    return Visit(PROLIFIC, environment, submission, participant)


def _wants_token(request: HttpRequest) -> bool:
    """Return whether Prolific signs the links of the study that is visited."""
    visited = request.resolver_match.kwargs.get("study_key") if request.resolver_match else None
    signed = Study.objects.filter(design__crowd__options__signed_links=True)
    return visited is not None and signed.filter(key=visited).exists()


def _is_offered(environment: str, request: HttpRequest) -> bool:
    """Return whether people can come from there. The local Prolific has no log-in, so it must be open here."""
    if environment == LOCAL:
        return is_local_prolific_open() or IN_THIS_PROCESS in request.META or bool(settings.PROLIFIC_LOCAL_URL)
    return environment == PRODUCTION == settings.PROLIFIC_ENVIRONMENT


def ask_holder(client: ProlificClient, visit: Visit, study: str) -> Held:
    """Ask Prolific whose submission it is, and of which study. A missing answer is never taken for a no."""
    try:
        found = client.get(f"submissions/{visit.assignment_id}/")
    except ProlificRefused as refused:
        if refused.is_gone:
            return Held(Word.DOES_NOT)
        log.warning("prolific_does_not_tell_holder", error=str(refused))
        return CANT_TELL
    except EvalPlatformError as error:
        log.warning("prolific_does_not_tell_holder", error=str(error))
        return CANT_TELL
    if participant_of(found) != visit.worker_id or str(found.get("study_id", "")) != study:
        return Held(Word.DOES_NOT)
    word = status_word(found)
    if word in WORKING:
        began = time_of(found.get("started_at"))
        return Held(Word.HOLDS, max(timedelta(), timezone.now() - began) if began else timedelta())
    # Prolific may still take work whose time was over there, so we do as well.
    return CANT_TELL if word == LATE else Held(Word.DOES_NOT)


def hand_back(assignment: Assignment, code: str) -> HandBack:
    """Send a finished worker to Prolific with the study's code for finished work.

    One code is everybody's, so somebody whom Prolific has not confirmed, because it was away, gets a code of their own
    instead, which is taken there as well. The same as long as there is no other.
    """
    way = None if assignment.confirmed_at is None else _way_back(assignment.offering, FINISHED)
    return way or HandBack(Way.CODE, code)


def turn_away(offering: Offering, outcome: Outcome) -> HandBack | None:
    return _way_back(offering, CODES[outcome], RETURN_NOTE)


def _way_back(offering: Offering, outcome: str, note: str = "") -> HandBack | None:
    code = crowd_notes(offering).get(f"{CODE}{outcome}")
    if not code:
        return None
    return HandBack(Way.REDIRECT, code, f"{site_of(offering.environment)}{COMPLETE}?cc={code}", note=note)


def site_of(environment: str) -> str:
    """Return where participants' pages are. Those of a local Prolific in this process are on this very server."""
    if environment == LOCAL:
        return str(settings.PROLIFIC_LOCAL_URL) or LOCAL_SITE
    return SITE
