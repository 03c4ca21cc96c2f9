"""What a worker reads about their crowd on our page. Each crowd's folder says it; the page and its refusals use it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CrowdWords:
    """Nouns are as inside of a sentence; sentences end with their full stop."""

    hit: str  # a piece of work
    hits: str
    marketplace: str  # where it comes from, as in "go to the marketplace"
    worker: str  # what people are called there
    requester: str  # who asks, where the study names nobody
    # How to go on, or to stop
    accept_first: str  # on a preview
    asked_later: str  # beside a preview's consent text
    open_it: str  # to someone whom the crowd did not send
    return_it: str  # to someone who can't work on it
    declined: str  # to someone who does not agree
    write_or_return: str  # when the page does not start; it goes on after "If that does not help, "
    # Where the crowd has the last word
    points_later: str
    approved_by_itself: str  # after "by a person, at the latest 3 days after you submit: "
    approved_at_once: str
    # When the work is done: what happens now, what to do if it did not happen, and the button that does it again
    handing_over: str
    hand_over_again: str
    hand_over_button: str
    code_hint: str
