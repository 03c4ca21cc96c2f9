"""Make the frame in which a worker sees a HIT: its address with MTurk's parameters, its height and its policy."""

import re
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from evalplatform.middleware import CONTENT_SECURITY_POLICY
from localturk.errors import RequestError
from localturk.models import TurkAssignment, TurkHit
from localturk.questions import external_url, frame_height, parse_question

NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?")


@dataclass(frozen=True)
class Frame:
    """A frame for an external page. `height` is in pixels; 0 stands for the height of the window."""

    url: str
    origin: str
    height: int

    @property
    def policy(self) -> str:
        """Return the Content-Security-Policy. It allows 'self' because the answer to externalSubmit replaces the page
        in the frame."""
        return f"{CONTENT_SECURITY_POLICY}; frame-src 'self' {self.origin}"


def preview_frame(hit: TurkHit) -> Frame | None:
    return _make_frame(hit, {"assignmentId": NOT_AVAILABLE, "hitId": hit.hit_id})


def work_frame(assignment: TurkAssignment, submit_to: str) -> Frame | None:
    parameters = {
        "assignmentId": assignment.assignment_id,
        "hitId": assignment.hit.hit_id,
        "workerId": assignment.worker.worker_id,
        "turkSubmitTo": submit_to,
    }
    return _make_frame(assignment.hit, parameters)


def _make_frame(hit: TurkHit, parameters: dict[str, str]) -> Frame | None:
    """Return the frame, or None for other kinds of questions, and for addresses that a policy can't name."""
    root = parse_question(hit.question)
    try:
        url = urlsplit(external_url(root))
        height = frame_height(root)
    except RequestError:
        return None
    origin = f"{url.scheme}://{url.netloc}"
    if not ORIGIN.fullmatch(origin):
        return None
    query = "&".join(filter(None, [url.query, urlencode(parameters)]))
    return Frame(url._replace(query=query).geturl(), origin, height)
