"""Says what workers read about bonus points: the rule before the first dialog, the outcome after submitting."""

from typing import Any

from hits.models.design import StudyDesign
from hits.models.money import money
from hits.protocols import Protocol

UNPAID_REHEARSAL = "none: this is a rehearsal, and nothing is paid"
REHEARSED = "This was a rehearsal: nothing is paid."


def bonus_rule(protocol: Protocol[Any], bonus_dialogs: int, is_rehearsal: bool = False) -> str:
    """Say before the first dialog what wins a point, what counts, and what the points are worth."""
    design, needed = protocol.design, protocol.design.pay.bonus_points
    if bonus_dialogs == 1:
        carries = "One of the conversations carries a bonus point: one of its replies was written by a human"
        win = "Win it"
    else:
        carries = (
            f"{bonus_dialogs} of the conversations carry a bonus point: one of their replies was written by a human"
        )
        which = f"all {bonus_dialogs}" if needed >= bonus_dialogs else f"at least {needed} of the {bonus_dialogs}"
        win = f"Win {which} points"
    rule = f"{carries}, and the point is yours when {protocol.how_to_win()}. {protocol.what_counts()}"
    if is_rehearsal:
        return f"{rule} This is a rehearsal: the study pays for points, but nothing is paid now."
    return f"{rule} {win} and we pay {money(design.pay.bonus_cents, design.pay.currency)} on top."


def points_told(design: StudyDesign, won: int, bonus_dialogs: int, is_rehearsal: bool = False) -> str:
    """Say after submitting, when nothing can be changed any more, how many points were won."""
    if not bonus_dialogs:
        return ""
    if bonus_dialogs == 1:
        told = "You have won the bonus point" if won else "You have not won the bonus point this time"
    elif won == bonus_dialogs:
        told = f"You have won all {bonus_dialogs} bonus points"
    else:
        told = f"You have won {won or 'none'} of the {bonus_dialogs} bonus points"
    bonus = design.pay.bonus_cents
    if not bonus or is_rehearsal:
        return f"{told}."
    if won >= design.pay.bonus_points:
        return f"{told}: we pay {money(bonus, design.pay.currency)} on top."
    return f"{told}. The bonus needs {design.pay.bonus_points}; the reward is yours all the same."
