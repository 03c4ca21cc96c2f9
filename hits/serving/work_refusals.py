"""Tells a worker why they can't go on: what happened, whether it is paid, and what to do.

This is the one place for these texts. The server's own pages show them, and the worker's page receives them with the
refusal. The crowd's words, such as what a piece of work is called, replace `{hit}` and the like. What is said of pay
stands in brackets three times: [where the crowd pays|where somebody else pays|where nobody does].
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import IntEnum, StrEnum
from typing import Any

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.crowds import Crowd, CrowdWords, is_unpaid_rehearsal
from hits.models.design import StudyDesign


class Refusal(StrEnum):
    """The reasons for which a worker's request is refused."""

    ALREADY_SUBMITTED = "already-submitted"
    CONFLICT = "conflict"
    CONSENT_MISSING = "consent-missing"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"
    LIMIT_REACHED = "limit-reached"
    NETWORK_FULL = "network-full"
    NO_ATTEMPTS_LEFT = "no-attempts-left"
    NOT_BEGUN = "not-begun"
    NOT_ELIGIBLE = "not-eligible"
    NOT_HELD = "not-held"
    NOTHING_FREE = "nothing-free"
    OUTSIDE_MARKETPLACE = "outside-marketplace"
    REVOKED = "revoked"
    STOPPED = "stopped"
    STUDY_COMPLETE = "study-complete"
    STUDY_FULL = "study-full"
    TAKEN_OVER = "taken-over"
    TIME_OVER = "time-over"
    TOKEN_INVALID = "token-invalid"  # noqa: S105
    TOO_FAST = "too-fast"
    TOO_LARGE = "too-large"
    TOO_MANY_CHECKS = "too-many-checks"
    TOO_MANY_VISITS = "too-many-visits"


class Paid(IntEnum):
    """By whom work is paid, as the place of what is said of it."""

    BY_CROWD = 0
    ELSEWHERE = 1  # by whoever invited the worker: we can't speak for them
    NOT = 2
    REHEARSED = 3  # not paid either, because whoever works only tries the study out


def who_pays(design: StudyDesign, crowd: Crowd, environment: str) -> Paid:
    if is_unpaid_rehearsal(crowd, environment):
        return Paid.REHEARSED
    if not design.pay.reward_cents:
        return Paid.NOT
    return Paid.BY_CROWD if crowd.abilities.pays_workers else Paid.ELSEWHERE


@dataclass(frozen=True)
class Words:
    """The text of a refusal."""

    message: str
    heading: str = ""  # the heading of a page of its own; if empty, the worker's page shows a notice and goes on
    can_open_again: bool = False  # whether opening the HIT again helps: to go on, or to see the completion code

    def of_crowd(self, crowd: CrowdWords, paid: Paid = Paid.BY_CROWD) -> "Words":
        message = in_words_of(crowd, said_of_pay(self.message, paid))
        return replace(self, message=message, heading=in_words_of(crowd, self.heading))


def in_words_of(crowd: CrowdWords, text: str) -> str:
    """Replace `{hit}` and the like by the crowd's words; `{Marketplace}` begins a sentence."""
    words = asdict(crowd)
    return text.format(**words, Marketplace=crowd.marketplace[:1].upper() + crowd.marketplace[1:])


def said_of_pay(text: str, paid: Paid) -> str:
    """Keep of each bracket what is true where this pays."""
    return re.sub(r"\[([^|\]]*)\|([^|\]]*)\|([^|\]]*)\]", lambda found: found[min(paid, Paid.NOT) + 1], text)


WHAT_IS_SUBMITTED = "What you have submitted [is paid|counts towards your pay|counts]"
ON_OWN_PAGE = (
    "Your answers are safely with us[|, and count towards your pay|]. Nothing more is needed here: thank you! Your own "
    "page says what else there is for you."
)
NOT_THIS_ONE = f"{WHAT_IS_SUBMITTED}; this one could not[ be||]."

WORDS = {
    Refusal.ALREADY_SUBMITTED: Words(
        "Your answers are safely with us[, and are paid as the {hit} says|, and count towards your pay|]. Nothing more "
        "is needed: thank you! If "
        "{marketplace} still shows the {hit} as open, open it again here and hand it over once more.",
        "You have finished this {hit}",
        can_open_again=True,
    ),
    Refusal.CONFLICT: Words("This was changed in another tab. The page now shows the newest; please look once more."),
    Refusal.CONSENT_MISSING: Words(
        "We store no answers from anyone who has not agreed to take part, so this was not saved. What was saved before "
        "is still there. Open this {hit} again and agree, and go on[: it is paid as always||].",
        "We need your agreement first",
        can_open_again=True,
    ),
    Refusal.INCOMPLETE: Words("Something is still missing. Nothing is lost: please add it, and submit again."),
    Refusal.INVALID: Words(
        "The page sent something that we can't read. What was saved before is still there, and [is paid as "
        "always|counts|counts] "
        "once you submit. Please reload the page."
    ),
    Refusal.LIMIT_REACHED: Words(
        "You have done as many {hits} of this study as one {worker} may, so that many people are heard: thank you! "
        f"{NOT_THIS_ONE} {{return_it}}",
        "You have done all the {hits} we may give you",
    ),
    Refusal.NETWORK_FULL: Words(
        "As many people as we take from one network have begun lately from yours, so that nobody alone can take all "
        "that there is. If you belong to a class or a lab, please tell whoever invited you: the researchers can lift "
        f"this limit. Otherwise open the link again in an hour. {WHAT_IS_SUBMITTED}, and nothing counts against you.",
        "Please come back in a while",
    ),
    Refusal.NO_ATTEMPTS_LEFT: Words(
        "You have used all attempts for this bonus point. [The pay for the {hit} does not depend on it: please go "
        "on.|The pay "
        "for the {hit} does not depend on it: please go on.|Please go on without it.]"
    ),
    Refusal.NOT_BEGUN: Words(
        "You had answered nothing when the time for this {hit} was over, so your place in it was free for others[, and "
        "there is nothing to be paid||]. {open_it} If there is still work, you get some.",
        "Please begin this {hit} again",
    ),
    Refusal.NOT_ELIGIBLE: Words(
        "You have seen these conversations in another {hit}, and here we need a fresh pair of eyes. "
        f"{NOT_THIS_ONE} {{return_it}} Our other {{hits}} are still open to you.",
        "You know these conversations already",
    ),
    Refusal.NOT_HELD: Words(
        "{Marketplace} tells us that you don't hold this {hit}: it was returned, its time ran out, or it was never "
        "accepted, so that work on it could not [be paid|be paid|count]. The answers that you gave are saved. "
        "{open_it}",
        "{Marketplace} has not given you this {hit}",
    ),
    Refusal.NOTHING_FREE: Words(
        "Others are working on all that is left of this study, or you have seen all of its conversations. So we have "
        f"no {{hit}} to give you now. {WHAT_IS_SUBMITTED}. {{return_it}} If somebody stops halfway, a place "
        "becomes free again.",
        "There is no free {hit} for you at the moment",
    ),
    Refusal.OUTSIDE_MARKETPLACE: Words(
        "We can't tell which {hit} you are working on, so nothing that you do here could be saved[ or paid| or "
        "paid|]. {open_it}",
        "Please open this page from {marketplace}",
    ),
    Refusal.REVOKED: Words(
        "The researchers have withdrawn your invitation to this study, so nothing more is saved or handed in here. "
        "What you had handed in before stays with us and counts. What you had begun and not handed in is kept, but "
        "is not [paid|paid|counted]. If you think that this is a mistake, please write to whoever invited you: they "
        "can open your link again, and you go on where you were.",
        "Your invitation was withdrawn",
    ),
    Refusal.STOPPED: Words(
        f"We have no more {{hits}} of this study for you. {NOT_THIS_ONE} {{return_it}}",
        "There are no more {hits} for you here",
    ),
    Refusal.STUDY_COMPLETE: Words(
        "All the answers that it needs have been given[, so that more could not be paid||]. Thank you for your "
        "interest! {return_it} If the researchers open it again, the same link lets you in.",
        "This study is complete",
    ),
    Refusal.STUDY_FULL: Words(
        "Others have answered everything that this {hit} asks, so that another answer could [neither be used nor "
        "paid|neither be used nor paid|not be used]. "
        "{return_it} Our other {hits} may still be open to you.",
        "This {hit} has all the answers it needs",
    ),
    Refusal.TAKEN_OVER: Words(
        "This {hit} was returned or ran out of time here, and {marketplace} has given it to another {worker}[, who is "
        "paid for it||]. Your answers so far are saved. If {marketplace} still shows the {hit} as yours, you can go on"
        "[ and are paid as always||]; else there is nothing left to do, and it does not count against you.",
        "Someone else holds this {hit} now",
        can_open_again=True,
    ),
    Refusal.TIME_OVER: Words(
        "The time allowed for this {hit} has run out, and {marketplace} takes it back, so that it can't [be paid|be "
        "paid|count] as "
        "it is. Your answers so far are saved. If you have accepted the {hit} again, you can go on where you were"
        "[, and are paid as always||].",
        "The time for this {hit} is over",
        can_open_again=True,
    ),
    Refusal.TOKEN_INVALID: Words(
        "We can't verify this page any more, usually because our server was moved. What was saved is still there, and "
        "[is paid as always|counts|counts] once you submit. Please open the {hit} again from {marketplace}.",
        "This page has to be opened again",
        can_open_again=True,
    ),
    Refusal.TOO_FAST: Words("That was a lot at once. Nothing is lost: the page tries again in a moment."),
    Refusal.TOO_MANY_CHECKS: Words(
        "We can't check this one just now, because there were very many checks lately. You can go on without it."
    ),
    Refusal.TOO_MANY_VISITS: Words(
        "Very many visits came from your network in the last hour, and {marketplace} can't tell us which of them are "
        "real. Nothing is lost, what you submit [is paid|counts|counts], and nothing counts against you. Please "
        "reload this page in a "
        "while, or return the {hit} if its time would run out.",
        "Please come back in a while",
    ),
    Refusal.TOO_LARGE: Words("That is more text than we can take. Please shorten it; everything else is saved."),
}


def limit_words(limit: int, crowd: CrowdWords) -> str:
    """Return the text of LIMIT_REACHED with the study's own number. How to leave is filled in when it is shown."""
    return (
        f"Each {crowd.worker} may do {count_of(limit, crowd.hit, crowd.hits)} of this study, so that many people are "
        f"heard, and you have done yours: thank you! {NOT_THIS_ONE} {{return_it}}"
    )


def unchecked_words(what_counts: str) -> str:
    """Return the text of TOO_MANY_CHECKS with what decides about the point, as the protocol says it."""
    return f"{WORDS[Refusal.TOO_MANY_CHECKS].message} {what_counts}"


def incomplete_words(missing: Sequence[tuple[int, int]], still_missing: tuple[str, str]) -> str:
    """Return the text of INCOMPLETE with what is missing: positions of conversations, and how many replies have no
    answer.

    The protocol says what that is called, and what to do.
    """
    what, do_it = still_missing
    parts = [f"{count_of(count, 'reply', 'replies')} of conversation {position + 1}" for position, count in missing]
    return f"{what}: {', '.join(parts)}. Nothing is lost: please {do_it}, and submit again."


class WorkRefused(EvalPlatformError):
    """A worker's request that was refused. `message` says more than the refusal's own text, if there is more to say."""

    def __init__(self, refusal: Refusal, message: str = "", **details: Any) -> None:
        super().__init__(message or refusal)
        self.refusal = refusal
        self.message = message
        self.details = details

    def words(self, crowd: CrowdWords, paid: Paid = Paid.BY_CROWD) -> Words:
        """Return the text as the workers of this crowd read it, where work is paid in this way."""
        words = WORDS[self.refusal].of_crowd(crowd, paid)
        if not self.message:
            return words
        return replace(words, message=said_of_pay(self.message, paid).replace("{return_it}", crowd.return_it))
