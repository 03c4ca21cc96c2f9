"""What the worker's pages show: offers, queue, past work and clock in words, the frame's address, and kind refusals."""

import re
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode, urlsplit

from django.db.models import Exists, OuterRef

from evalplatform.middleware import CONTENT_SECURITY_POLICY
from hits.localturk.errors import RequestError
from hits.localturk.models import HitType, TurkAssignment, TurkHit, WorkerAccount
from hits.localturk.qualifying import guards_discovery, judged_counts, requirement_words, standing_of
from hits.localturk.questions import external_url, frame_height, parse_question
from hits.localturk.rendering import dollars
from hits.localturk.working import Reason, Refusal, next_hit, offers

REQUESTER = "EvalPlatform, on this computer"
MOST_PAST_ROWS = 50
IN_WORDS = {"Submitted": "submitted, waits for approval", "Approved": "approved", "Rejected": "rejected"} | {
    "Returned": "returned by you",
    "Abandoned": "went back: the time was over",
}
PAID = ("Submitted", "Approved")
NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?")


@dataclass(frozen=True)
class WorkerRow:
    worker: WorkerAccount
    place: str
    record: str


@dataclass(frozen=True)
class RequirementRow:
    text: str
    is_met: bool


@dataclass(frozen=True)
class OfferRow:
    hit_id: str
    title: str
    description: str
    requester: str
    reward: str
    time_allowed: str
    count: int
    requirements: list[RequirementRow]
    can_preview: bool
    why_not: str

    @property
    def can_accept(self) -> bool:
        return not self.why_not


@dataclass(frozen=True)
class HiddenRow:
    title: str
    requirements: list[RequirementRow]


@dataclass(frozen=True)
class QueueRow:
    assignment_id: str
    title: str
    reward: str
    time_left: str


@dataclass(frozen=True)
class PastRow:
    title: str
    ended_at: datetime | None
    status: str
    feedback: str
    reward: str
    bonus: str


@dataclass(frozen=True)
class ClockRow:
    used_seconds: int
    allowed_seconds: int

    @property
    def used(self) -> str:
        return clock_text(self.used_seconds)

    @property
    def allowed(self) -> str:
        return clock_text(self.allowed_seconds)

    @property
    def left(self) -> str:
        return clock_text(self.allowed_seconds - self.used_seconds)


def worker_row(worker: WorkerAccount) -> WorkerRow:
    approved, rejected = judged_counts(worker)
    place = "-".join(filter(None, [worker.country, worker.subdivision]))
    if not approved + rejected:
        return WorkerRow(worker, place, "new here, no work judged so far")
    percent = 100 * approved // (approved + rejected)
    return WorkerRow(worker, place, f"{approved:,} HITs approved, approval rate {percent} %")


def offer_rows(worker: WorkerAccount, now: datetime) -> list[OfferRow]:
    """Those that the worker does not qualify for too: one learns here why."""
    rows = []
    for offer in offers(worker, now, qualified_only=False):
        # None when another worker took the last one in this moment.
        if hit := next_hit(worker, offer.hit_type):
            rows.append(offer_row(worker, hit, offer.refusal, offer.can_preview, offer.hit_count))
    return rows


def hidden_rows(worker: WorkerAccount) -> list[HiddenRow]:
    """What MTurk would not even show to this worker. A researcher who rehearses must see why nothing is there."""
    standing, on_offer = standing_of(worker), TurkHit.objects.assignable().filter(hit_type=OuterRef("pk"))
    return [
        HiddenRow(kind.title, requirement_rows(worker, kind))
        for kind in HitType.objects.filter(Exists(on_offer)).order_by("-pk")
        if standing.first_unmet(filter(guards_discovery, kind.qualification_requirements))
    ]


def offer_row(
    worker: WorkerAccount, hit: TurkHit, refusal: Refusal | None, can_preview: bool = True, count: int = 1
) -> OfferRow:
    kind = hit.hit_type
    return OfferRow(
        hit_id=hit.hit_id,
        title=kind.title,
        description=kind.description,
        requester=REQUESTER,
        reward=money(kind.reward_cents),
        time_allowed=duration_words(kind.assignment_duration_seconds),
        count=count,
        requirements=requirement_rows(worker, kind),
        can_preview=can_preview,
        why_not=refusal.message if refusal else "",
    )


def requirement_rows(worker: WorkerAccount, hit_type: HitType) -> list[RequirementRow]:
    standing = standing_of(worker)
    return [
        RequirementRow(requirement_words(one), standing.first_unmet([one]) is None)
        for one in hit_type.qualification_requirements
    ]


def queue_rows(worker: WorkerAccount, now: datetime) -> list[QueueRow]:
    held = worker.assignments.filter(status=TurkAssignment.Status.ACCEPTED).select_related("hit__hit_type")
    return [
        QueueRow(
            one.assignment_id,
            one.hit.hit_type.title,
            money(one.hit.hit_type.reward_cents),
            duration_words(_whole_minutes(int((one.deadline_at - now).total_seconds()))),
        )
        for one in held.order_by("deadline_at")
    ]


def past_rows(worker: WorkerAccount) -> list[PastRow]:
    """The latest first, and of a long history those only."""
    done = worker.assignments.exclude(status=TurkAssignment.Status.ACCEPTED).select_related("hit__hit_type")
    done = done.prefetch_related("bonus_payments").order_by("-pk")
    return [
        PastRow(
            title=one.hit.hit_type.title,
            ended_at=one.submitted_at or one.given_back_at,
            status=IN_WORDS[one.status],
            feedback=one.requester_feedback,
            reward=money(one.hit.hit_type.reward_cents) if one.status in PAID else money(0),
            bonus=money(sum(bonus.amount_cents for bonus in one.bonus_payments.all())),
        )
        for one in done[:MOST_PAST_ROWS]
    ]


def clock_row(assignment: TurkAssignment, now: datetime) -> ClockRow:
    return ClockRow(
        used_seconds=int((now - assignment.accepted_at).total_seconds()),
        allowed_seconds=int((assignment.deadline_at - assignment.accepted_at).total_seconds()),
    )


def money(cents: int) -> str:
    return f"${dollars(cents)}"


def clock_text(seconds: int) -> str:
    """65 -> "01:05", 3725 -> "1:02:05": as the running clock writes it."""
    minutes_and_seconds = f"{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{seconds // 3600}:{minutes_and_seconds}" if seconds >= 3600 else minutes_and_seconds


def _whole_minutes(seconds: int) -> int:
    """Seconds are told in the last minute only: the queue's page does not count down."""
    return seconds if seconds < 60 else seconds // 60 * 60


def duration_words(seconds: int) -> str:
    """In the two largest units: "1 day 2 hours", "30 minutes", "45 seconds"."""
    units = [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)]
    parts, rest = [], max(seconds, 0)
    for name, size in units:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {name}{'s' if count != 1 else ''}")
    return " ".join(parts[:2]) or "none"


# --- The frame -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """`height` in pixels; 0 stands for the height of the window."""

    url: str
    origin: str
    height: int

    @property
    def policy(self) -> str:
        """'self' for the answer to externalSubmit, which replaces the page in the frame."""
        return f"{CONTENT_SECURITY_POLICY}; frame-src 'self' {self.origin}"


def preview_frame(hit: TurkHit) -> Frame | None:
    return _frame(hit, {"assignmentId": NOT_AVAILABLE, "hitId": hit.hit_id})


def work_frame(assignment: TurkAssignment, submit_to: str) -> Frame | None:
    parameters = {
        "assignmentId": assignment.assignment_id,
        "hitId": assignment.hit.hit_id,
        "workerId": assignment.worker.worker_id,
        "turkSubmitTo": submit_to,
    }
    return _frame(assignment.hit, parameters)


def _frame(hit: TurkHit, parameters: dict[str, str]) -> Frame | None:
    """None for other kinds of questions, and for addresses that a policy can't name."""
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


# --- Instead of the page that was asked for --------------------------------------------------------------------------


@dataclass(frozen=True)
class Notice:
    title: str
    words: str
    status: int = 409

    @property
    def is_done(self) -> bool:
        """There is no work left to do, so the clock above the frame may stop."""
        return self.status == 200


NOT_FOUND = Notice(
    "There is nothing at this address",
    "The HIT or assignment is not known here. It may have been deleted, or the address mistyped.",
    404,
)

ACCEPT_REFUSED = {
    Reason.BLOCKED: Notice(
        "This requester does not take your work",
        "The requester has blocked this worker. HITs of others are not affected, and what you have submitted is paid.",
        403,
    ),
    Reason.NOT_QUALIFIED: Notice(
        "This HIT asks for other qualifications",
        "It is meant for workers with another background or history, and says nothing about the quality of your work.",
        403,
    ),
    Reason.EXPIRED: Notice(
        "This HIT is over", "Its time on the marketplace has ended, or the requester has taken it off.", 410
    ),
    Reason.NONE_LEFT: Notice(
        "Others were faster",
        "All assignments of this HIT are taken. One comes back when somebody returns it, so looking again may help.",
    ),
    Reason.ALREADY_DONE: Notice(
        "You have done this HIT", "Each worker does a HIT once, and yours is submitted. Thank you for it."
    ),
}

NOT_HELD_NOW = {
    Reason.ALREADY_DONE: Notice(
        "This is submitted already", "All is well: your work arrived the first time, and it counts once.", 200
    ),
    Reason.TOO_LATE: Notice(
        "The time is over",
        "The time allowed ran out before this was submitted, and the HIT went back to other workers. "
        "Returned or late HITs don't count against you.",
    ),
    Reason.NOT_HELD: Notice(
        "You returned this HIT", "It went back to other workers. If some are left, you can accept it again."
    ),
}


def someone_elses(name: str) -> Notice:
    words = f"It is held by {name}. Choose that worker under “Change worker” to go on with it."
    return Notice("This assignment belongs to another worker", words, 403)


# --- Answers to externalSubmit, shown in the frame ---


def submitted(reward: str) -> Notice:
    return Notice("Thank you, your work is submitted", f"{reward} will be yours when the requester approves it.", 200)


UNKNOWN_ASSIGNMENT = Notice(
    "This assignment is not known",
    "Nothing was submitted: the form's assignmentId is none that was given out here. "
    "Open the HIT from your queue, and submit it from there.",
    404,
)
NO_FURTHER_FIELD = Notice(
    "The form was empty",
    "Nothing was submitted: besides assignmentId, a form must have at least one more field. The HIT is still yours.",
    400,
)
TOO_LARGE = Notice(
    "This is too much for one form",
    "Nothing was submitted: a form may hold up to 1 MB in 1,000 fields. The HIT is still yours.",
    413,
)
