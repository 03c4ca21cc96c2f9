"""Tells the service behind a link, by a request of this server, that somebody has finished.

In: intents, saved in the transaction that saved the submission. Out: one request for each, noted before and after.
Guaranteed: a request is repeated only while we know that nobody has acted upon it: no connection, or an answer that
says "not now". Where the answer was lost, or is an error, a person looks at the service and decides.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db.models import Q, QuerySet
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.crowds.link.entering import session_there
from hits.crowds.link.guarded_requests import Answer, NotSent, request_once
from hits.crowds.link.leaving import fill_address
from hits.models import Assignment, Entrant, Event, Offering, Outcome, ServerCall

MOST_ATTEMPTS = 12
FIRST_WAIT = timedelta(minutes=1)  # doubled after each attempt, up to LONGEST_WAIT
LONGEST_WAIT = timedelta(hours=6)
NOT_NOW = {429, 503}

log = structlog.get_logger("hits.crowds.link")

WAITS = Q(arrived_at=None, sending_at=None, attempts__lt=MOST_ATTEMPTS)
ASK_A_PERSON = "Look there whether it has arrived, before you have it sent again."


@dataclass
class Called:
    """How many calls arrived, wait for another attempt, or need a person."""

    arrived: int = 0
    waiting: int = 0
    in_doubt: int = 0


def intend_call(entrant: Entrant, session: str, assignment: Assignment, now: datetime) -> None:
    link = entrant.link
    code = link.codes.get(Outcome.FINISHED, "")
    values = {"worker": entrant.id_there, "session": session_there(session), "code": code}
    address = fill_address(link.address, values)
    ServerCall.objects.get_or_create(
        assignment=assignment, defaults={"link": link, "address": address, "intended_at": now, "next_at": now}
    )


def make_waiting_calls(now: datetime, check_is_ours: Callable[[Offering], None] = lambda _: None) -> Called:
    """Make the calls that are due. Two runs at once make each call once: it is claimed before it is sent.

    `check_is_ours` raises for offerings that another server has published: one with a copy of the database calls
    nobody.
    """
    called = Called()
    for one in ServerCall.objects.filter(WAITS, next_at__lte=now).select_related("link__offering__study"):
        with contextlib.suppress(EvalPlatformError):
            check_is_ours(one.link.offering)
            _claim_and_send(one, now, called)
    return called


def _claim_and_send(one: ServerCall, now: datetime, called: Called) -> None:
    at = max(now, timezone.now())  # a run may be long: the claim says when this call's turn came
    claim = {"sending_at": at, "attempts": one.attempts + 1, "problem": ""}
    if ServerCall.objects.filter(WAITS, pk=one.pk, next_at=one.next_at).update(**claim):
        _send(one, at, called)


def _send(one: ServerCall, now: datetime, called: Called) -> None:
    """Make a call that was claimed at this time."""
    found = request_once(one.address)
    this = ServerCall.objects.filter(pk=one.pk, sending_at=now)  # unless a person has decided otherwise meanwhile
    if isinstance(found, Answer) and 200 <= found.status < 300 and not found.has_errors:
        ServerCall.objects.filter(pk=one.pk).update(arrived_at=now, problem="")  # that holds whatever was decided
        called.arrived += 1
    elif isinstance(found, NotSent) or (isinstance(found, Answer) and found.status in NOT_NOW):
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2**one.attempts)
        this.update(sending_at=None, next_at=now + wait, problem=found.in_words)
        called.waiting += 1
        if one.attempts + 1 >= MOST_ATTEMPTS:
            _tell(one, f"gave up calling {one.link.label} after {MOST_ATTEMPTS} attempts: {found.in_words}", now)
    else:
        this.update(problem=f"{found.in_words} {ASK_A_PERSON}")
        called.in_doubt += 1
        _tell(one, f"called {one.link.label}, and does not know whether it has arrived: {found.in_words}", now)
    log.info("server call", link=one.link.key, call=one.pk, outcome=type(found).__name__, said=found.in_words)


def _tell(one: ServerCall, text: str, now: datetime) -> None:
    Event.objects.create(study=one.link.offering.study, at=now, actor=None, text=text)


# --- What a person sees and decides ----------------------------------------------------------------------------------


def calls_to_look_at(offering: Offering, now: datetime) -> "QuerySet[ServerCall]":
    """Return the calls that no run will make any more, unless a person says so: in doubt, given up, or sent by a
    process that died."""
    died = Q(sending_at__lt=now - timedelta(minutes=10), problem="")
    in_doubt = Q(sending_at__isnull=False) & ~Q(problem="")
    given_up = Q(sending_at=None, attempts__gte=MOST_ATTEMPTS)
    open_ones = ServerCall.objects.filter(link__offering=offering, arrived_at=None)
    return open_ones.filter(died | in_doubt | given_up).select_related("link", "assignment")


def settle_call(offering: Offering, pk: int, has_arrived: bool, by: Any, now: datetime) -> None:
    """Note what a person found out at the service: that the call has arrived, or that it is to be sent again."""
    this = calls_to_look_at(offering, now).filter(pk=pk)
    changes: dict[str, Any] = (
        {"arrived_at": now} if has_arrived else {"sending_at": None, "attempts": 0, "next_at": now, "problem": ""}
    )
    if not ServerCall.objects.filter(pk__in=list(this.values_list("pk", flat=True))).update(**changes):
        raise EvalPlatformError("This call needs no decision any more.")
    what = "noted that a server call has arrived" if has_arrived else "had a server call sent again"
    Event.objects.create(study=offering.study, at=now, actor=by, text=what)
