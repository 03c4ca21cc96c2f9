"""Asks the local marketplace who holds an assignment before the work is handed in; Amazon can't tell.

What comes in: the environment, and the ids with which a page was opened. What goes out: that this worker holds the
assignment and for how long, that they do not, or that nobody can tell. What is guaranteed: a missing answer, whatever
the reason, is never taken for a no.
"""

import json
from datetime import timedelta
from typing import Any
from urllib.request import Request, urlopen

import structlog
from django.conf import settings

from hits.crowds.coming_and_going import CANT_TELL, Held, Word
from hits.crowds.mturk.client import sign_local_call
from hits.crowds.mturk.mturk_environments import LOCAL
from localturk import telling_holders as localturk
from localturk.clock import Clock
from localturk.lifecycle import settle

TIMEOUT_SECONDS = 3  # somebody is waiting for a page

log = structlog.get_logger("hits.crowds.mturk.holding")


def ask_holder(environment: str, crowd_hit_id: str, assignment_id: str, worker_id: str) -> Held:
    """Return whether this worker holds the assignment.

    MTurk can't tell: its API knows an assignment only once it is submitted. A local marketplace that has never heard of
    the HIT can't tell either, since its answer would be about another database, not about the worker.
    """
    if environment != LOCAL:
        return CANT_TELL
    ids = (crowd_hit_id, assignment_id, worker_id)
    if settings.MTURK_LOCAL_URL:
        return _read_answer(_ask_over_http(*ids))
    now = Clock().now()
    settle(now)
    return _read_answer(localturk.tell_holder(*ids, now))


def _ask_over_http(crowd_hit_id: str, assignment_id: str, worker_id: str) -> dict[str, Any]:
    url = f"{settings.MTURK_LOCAL_URL.rstrip('/')}/"
    body = json.dumps({"HITId": crowd_hit_id, "AssignmentId": assignment_id, "WorkerId": worker_id}).encode()
    request = Request(url, body, sign_local_call(url, localturk.OPERATION, body))  # noqa: S310  # the setting is http
    try:
        with urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            answer = json.load(response)
    except (OSError, ValueError) as error:
        log.warning("the local marketplace did not say who holds an assignment", error=str(error))
        return {}
    return answer if isinstance(answer, dict) else {}


def _read_answer(answer: dict[str, Any]) -> Held:
    if answer.get("Status") == localturk.HELD:
        return Held(Word.HOLDS, timedelta(seconds=float(answer.get("SecondsHeld", 0))))
    return Held(Word.DOES_NOT) if answer.get("Status") == localturk.NOT_HELD else CANT_TELL
