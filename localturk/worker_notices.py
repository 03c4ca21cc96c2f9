"""What a worker reads instead of the page that was asked for, or after a submission: kind words, and an HTTP status."""

from dataclasses import dataclass

from localturk.working import Reason


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
        "It is meant for workers with another background or history, and says nothing about the quality of your work. "
        "Other HITs in the list may be open to you.",
        403,
    ),
    Reason.EXPIRED: Notice(
        "This HIT is over",
        "Its time on the marketplace has ended, or the requester has taken it off. What you have submitted is paid as "
        "always; the list shows what else there is.",
        410,
    ),
    Reason.NONE_LEFT: Notice(
        "Others were faster",
        "All assignments of this HIT are taken. One comes back when somebody returns it, so looking again may help.",
    ),
    Reason.ALREADY_DONE: Notice(
        "You have done this HIT",
        "Each worker does a HIT once, and yours is submitted: it is paid when the requester approves it. Thank you!",
    ),
}

NOT_HELD_NOW = {
    Reason.ALREADY_DONE: Notice(
        "This is submitted already",
        "All is well: your work arrived the first time, counts once, and is paid when the requester approves it.",
        200,
    ),
    Reason.TOO_LATE: Notice(
        "The time is over",
        "The time allowed ran out before this was submitted, and the HIT went back to other workers, so that it can't "
        "be paid. It does not count against you, and if some are left, you can accept it again.",
    ),
    Reason.NOT_HELD: Notice(
        "You returned this HIT",
        "It went back to other workers, and is not paid. It does not count against you, and if some are left, you can "
        "accept it again.",
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
