"""List the notices that a worker reads instead of a page, or after submitting: title, words and HTTP status."""

from dataclasses import dataclass

from localturk.working import Reason


@dataclass(frozen=True)
class Notice:
    title: str
    words: str
    status: int = 409

    @property
    def is_done(self) -> bool:
        """Return whether the work is done, so that the clock above the frame may stop."""
        return self.status == 200


NOT_FOUND = Notice(
    "There is nothing at this address",
    "The HIT or assignment is not known here. It may have been deleted, or the address mistyped.",
    404,
)

ACCEPT_REFUSED = {
    Reason.BLOCKED: Notice(
        "This requester does not take your work",
        "The requester has blocked you. HITs of other requesters are not affected, and submitted work is paid.",
        403,
    ),
    Reason.NOT_QUALIFIED: Notice(
        "This HIT asks for other qualifications",
        "It is meant for workers with another background or history. This says nothing about the quality of your work. "
        "Other HITs in the list may be open to you.",
        403,
    ),
    Reason.EXPIRED: Notice(
        "This HIT is over",
        "Its time on the marketplace has ended, or the requester has removed it. Submitted work is paid as always. The "
        "list shows the other HITs.",
        410,
    ),
    Reason.NONE_LEFT: Notice(
        "Others were faster",
        "All assignments of this HIT are taken. If someone returns theirs, it is offered again, so look again later.",
    ),
    Reason.ALREADY_DONE: Notice(
        "You have done this HIT",
        "Each worker can do a HIT once, and you have submitted it. You are paid when the requester approves it. Thank "
        "you!",
    ),
}

NOT_HELD_NOW = {
    Reason.ALREADY_DONE: Notice(
        "This is already submitted",
        "All is well: your work arrived the first time. It counts once, and is paid when the requester approves it.",
        200,
    ),
    Reason.TOO_LATE: Notice(
        "The time is over",
        "The time allowed ran out before this was submitted, and the HIT went back to other workers, so it can't be "
        "paid. It does not count against you. If assignments are left, you can accept the HIT again.",
    ),
    Reason.NOT_HELD: Notice(
        "You returned this HIT",
        "It went back to other workers and is not paid. It does not count against you. If assignments are left, you "
        "can accept the HIT again.",
    ),
}


def someone_elses(name: str) -> Notice:
    words = f"{name} is working on it. To continue, choose that worker under “Change worker”."
    return Notice("This assignment belongs to another worker", words, 403)


# --- Answers to externalSubmit, shown in the frame ---


def submitted(reward: str) -> Notice:
    return Notice("Thank you, your work is submitted", f"You get {reward} when the requester approves it.", 200)


UNKNOWN_ASSIGNMENT = Notice(
    "This assignment is not known",
    "Nothing was submitted: the form's assignmentId does not exist here. "
    "Open the HIT from your queue, and submit it from there.",
    404,
)
NO_FURTHER_FIELD = Notice(
    "The form was empty",
    "Nothing was submitted: besides assignmentId, a form must have at least one more field. You still have the HIT.",
    400,
)
TOO_LARGE = Notice(
    "This is too much for one form",
    "Nothing was submitted: a form may have up to 1 MB in 1,000 fields. You still have the HIT.",
    413,
)
