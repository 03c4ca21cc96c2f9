"""Says how far an offering's fourth votes are, for the monitor and the results' page."""

from evalplatform.wording import count_of
from hits.deciding.asking_votes import due_fourth_votes
from hits.deciding.counted_votes import VoteState, asks_fourth_votes, vote_state
from hits.models import Offering


def describe_fourth_votes(offering: Offering) -> str:
    """Return "" for studies that ask for none, and as long as nothing was handed in that could need one."""
    if not asks_fourth_votes(offering):
        return ""
    state = vote_state(offering)
    if not state.differing and not state.asked:
        return "No item needs a fourth vote so far: no three votes on one all differ."
    differing = count_of(
        len(state.differing),
        "item has three votes that all differ on a question",
        "items have three votes that all differ on a question",
    )
    text = f"{differing}. {len(state.asked):,} fourth votes were asked for, and {len(state.returned):,} came in."
    return f"{text}{_unasked(offering, state)}"


def _unasked(offering: Offering, state: VoteState) -> str:
    if not state.unasked:
        return ""
    beyond = due_fourth_votes(offering, state).beyond_budget
    waiting = len(state.unasked) - beyond
    told = f" {count_of(beyond, 'item', 'items')} undecided: no budget for a fourth vote." if beyond else ""
    if waiting:
        more = count_of(waiting, "more is", "more are")
        told += f" {more} asked for by a sync, once they fill a HIT or no other vote is to come."
    return told
