"""Why a worker can't go on, each with its own kind words: one text for every case helps nobody."""

from enum import StrEnum
from typing import Any

from evalplatform.errors import EvalPlatformError


class Refusal(StrEnum):
    ALREADY_SUBMITTED = "already-submitted"
    CONFLICT = "conflict"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"
    LIMIT_REACHED = "limit-reached"
    NO_ATTEMPTS_LEFT = "no-attempts-left"
    NOT_ELIGIBLE = "not-eligible"
    NOT_HELD = "not-held"
    OUTSIDE_MARKETPLACE = "outside-marketplace"
    STUDY_FULL = "study-full"
    TAKEN_OVER = "taken-over"
    TIME_OVER = "time-over"
    TOKEN_INVALID = "token-invalid"  # noqa: S105
    TOO_FAST = "too-fast"
    TOO_LARGE = "too-large"


HEADINGS = {
    Refusal.ALREADY_SUBMITTED: "You have finished this HIT",
    Refusal.LIMIT_REACHED: "You have done all the HITs we may give you",
    Refusal.NOT_ELIGIBLE: "This HIT is not for you",
    Refusal.NOT_HELD: "The marketplace has not given you this HIT",
    Refusal.OUTSIDE_MARKETPLACE: "This page belongs into the marketplace",
    Refusal.STUDY_FULL: "This HIT has all the answers it needs",
    Refusal.TAKEN_OVER: "Someone else holds this HIT now",
    Refusal.TIME_OVER: "The time for this HIT is over",
    Refusal.TOKEN_INVALID: "This page can't be verified",
    Refusal.TOO_FAST: "Please come back in a while",
}

MESSAGES = {
    Refusal.ALREADY_SUBMITTED: "Your answers are safely with us, and nothing more is needed. Thank you!",
    Refusal.CONFLICT: "This was changed in another tab. The page now shows the newest state.",
    Refusal.INVALID: "The page sent something that we can't read. Please reload it; what was saved is still there.",
    Refusal.NO_ATTEMPTS_LEFT: "You have used all attempts for this bonus point. You can go on.",
    Refusal.NOT_ELIGIBLE: (
        "You have rated these conversations in another HIT already, and we need a fresh pair of eyes for them. Please "
        "return this HIT; our other HITs are still open to you. Returning does not count against you."
    ),
    Refusal.NOT_HELD: (
        "The marketplace tells us that you don't hold this HIT: it was returned, its time ran out, or it was never "
        "accepted. Please open it from your list of HITs there and accept it, and this page will appear. Answers that "
        "you have given are kept."
    ),
    Refusal.OUTSIDE_MARKETPLACE: (
        "We can't tell which HIT you are working on. Please open it from your list of HITs on the marketplace, accept "
        "it there, and this page will appear within it."
    ),
    Refusal.STUDY_FULL: (
        "Others have answered everything that this HIT asks, so we could not use another answer. Please return it; "
        "returning does not count against you."
    ),
    Refusal.TAKEN_OVER: (
        "This HIT was returned or ran out of time here, and the marketplace has given it to another worker. Your "
        "answers up to now are kept. If the marketplace still shows the HIT as yours, you can go on."
    ),
    Refusal.TIME_OVER: (
        "The time allowed for this HIT has run out, and the marketplace takes it back. Your answers up to now are "
        "kept. If you have accepted the HIT again, you can go on."
    ),
    Refusal.TOKEN_INVALID: "Please reload the page from the marketplace. What was saved is still there.",
    Refusal.TOO_FAST: "That was a lot at once. The page will try again in a moment.",
    Refusal.TOO_LARGE: "That is more text than we can take. Please shorten it.",
}


class WorkRefused(EvalPlatformError):
    def __init__(self, refusal: Refusal, message: str = "", is_final: bool = False, **details: Any) -> None:
        """`is_final`: the marketplace has said so, and the worker's own word changes nothing."""
        super().__init__(message or MESSAGES[refusal])
        self.refusal = refusal
        self.is_final = is_final
        self.details = details

    @property
    def heading(self) -> str:
        return HEADINGS.get(self.refusal, "This did not work")
