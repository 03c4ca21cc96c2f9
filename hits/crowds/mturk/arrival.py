"""Tells from an address who comes from MTurk, which sites may show our page, and which form hands work in."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from hits.crowds.coming_and_going import HandBack, Preview, Sites, Visit, Way
from hits.crowds.mturk.mturk_environments import LOCAL, MTURK
from hits.models import Assignment

WORKER_SITES = {"sandbox": "https://workersandbox.mturk.com", "production": "https://worker.mturk.com"}
SUBMIT_SITES = {
    "sandbox": ["https://workersandbox.mturk.com"],
    "production": ["https://www.mturk.com", "https://worker.mturk.com"],
}
SUBMIT_PATH = "/mturk/externalSubmit"
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"  # MTurk sends this as the assignment's id while a worker only looks
# Set in the WSGI environment when a simulated crowd in this process requests a page. No header can get this name.
IN_THIS_PROCESS = "evalplatform.simulated_crowd"


def arrival(request: HttpRequest) -> Visit | Preview | None:
    """Return who has come, or None without an assignment's id: MTurk always sends one, even to those who only look."""
    parameters = (request.GET.get(name, "") for name in ("assignmentId", "hitId", "workerId", "turkSubmitTo"))
    assignment_id, hit_id, worker_id, submit_to = parameters
    if not assignment_id:
        return None
    if assignment_id == NOT_AVAILABLE:
        return Preview(MTURK)
    return Visit(
        crowd=MTURK,
        environment=_environment_of_site(submit_to, _local_origins(request)) if hit_id else "",
        assignment_id=assignment_id,
        hit_id=hit_id,
        worker_id=worker_id,
        submit_to=submit_to.rstrip("/"),
    )


def hand_back(assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
    """Return the form that hands the work in to MTurk."""
    fields = {"assignmentId": assignment.crowd_assignment_id, "completionCode": code, **copy}
    return HandBack(Way.FORM, code, f"{submit_to}{SUBMIT_PATH}", fields)


def sites(request: HttpRequest) -> Sites:
    """Return the sites of MTurk, and of local marketplaces, that may show our page and receive its form."""
    return Sites(
        framing=list(WORKER_SITES.values()),
        receiving=[site for places in SUBMIT_SITES.values() for site in places],
        local=[origin for origin in _local_origins(request)[1:] if origin],
    )


def _environment_of_site(submit_to: str, local_origins: list[str]) -> str:
    """Return the environment that a visit comes from: the one whose site it submits to."""
    origin = _origin_of(submit_to)
    if origin and origin in local_origins:
        return LOCAL
    return next((environment for environment, places in SUBMIT_SITES.items() if origin in places), "")


def _local_origins(request: HttpRequest) -> list[str]:
    """Return where a local marketplace may be: on this very server, if it is open there, or where the settings say.

    Where it is closed, nobody can come from it, whatever a visitor claims, except for a simulated crowd in this
    process.
    """
    here = [f"{request.scheme}://{request.get_host()}", _origin_of(settings.PUBLIC_URL)]
    is_here = settings.LOCAL_MARKET or IN_THIS_PROCESS in request.META
    return [*(here if is_here else ["", ""]), _origin_of(settings.MTURK_LOCAL_URL)]


def _origin_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    except ValueError:
        return ""
