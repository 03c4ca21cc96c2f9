"""Defines which words each crowd provides for the worker's page, such as "HIT" and "the marketplace".

Each crowd's folder provides the words; the worker's page and its refusals use them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CrowdWords:
    """Nouns are written as inside a sentence; sentences end with their full stop."""

    hit: str  # a piece of work
    hits: str
    marketplace: str  # where it comes from, as in "go to the marketplace"
    worker: str  # what a person who works there is called
    requester: str  # who runs the study, if the study does not say
    # How to go on, or to stop
    accept_first: str  # on a preview
    asked_later: str  # beside a preview's consent text
    open_it: str  # to a visitor whom the crowd did not send
    return_it: str  # to a worker who can't work on it
    declined: str  # to a worker who does not consent
    write_or_return: str  # when the page does not start; it follows "If that does not help, "
    # Where the crowd has the last word
    points_later: str
    approved_by_itself: str  # follows "by a person, at the latest 3 days after you submit: "
    approved_at_once: str
    # When the work is done: what happens now, what to do if it did not happen, and the button that does it again
    handing_over: str
    hand_over_again: str
    hand_over_button: str
    code_hint: str
