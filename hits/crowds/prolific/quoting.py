"""Asks Prolific what places cost, by its own calculator, and compares that with what this server reckons with."""

import math

from hits.crowds.fees import Fees
from hits.crowds.market import Quote
from hits.crowds.prolific.prolific_calls import ProlificCalls
from hits.crowds.prolific.prolific_money import Hundredths
from hits.models.design import StudyDesign
from hits.models.money import money


def reward_of(design: StudyDesign) -> Hundredths:
    return Hundredths(design.pay.reward_cents, design.pay.currency)


def minutes_there(design: StudyDesign) -> int:
    """Return how long a HIT takes, as Prolific is told: in whole minutes. By these it judges what an hour pays."""
    return max(1, math.ceil(design.pay.expected_minutes))


def quote(calls: ProlificCalls, fees: Fees, design: StudyDesign, places: int) -> Quote:
    """Ask what the places cost. Nothing is created, and no money is held."""
    reward = reward_of(design)
    free, theirs, least = calls.wallet().available, calls.cost_of(reward, places), calls.least_hourly()
    ours = places * (reward.count + fees.reward_fee_cents(reward.count, 1))
    hourly = Hundredths(reward.count * 60 // minutes_there(design), reward.currency)
    problem = ""
    if theirs.count > ours:
        problem = (
            f"Prolific's calculator says {theirs} for {places:,} places, and this server reckoned with "
            f"{money(ours, reward.currency)}. Set PROLIFIC_FEE_PERCENT and PROLIFIC_VAT_PERCENT to what your account "
            "pays."
        )
    elif theirs.count > free.count:
        problem = f"{places:,} places cost {theirs}, and {free} is free there."
    elif hourly.count < least.count:
        problem = (
            f"Prolific wants {least} an hour at least, and {reward} for {minutes_there(design)} minutes is {hourly}."
        )
    words = (
        f"Prolific's own calculator says {theirs} for {places:,} places, with its fee and VAT; {free} is free in the "
        f"workspace. It wants {least} an hour at least, and {reward} for {minutes_there(design)} minutes is {hourly}."
    )
    return Quote(theirs.count, least.count, words, problem)
