"""Lists the words that workers of Mechanical Turk read about it on our page."""

from hits.crowds.crowd_words import CrowdWords

MTURKS_WORDS = CrowdWords(
    hit="HIT",
    hits="HITs",
    marketplace="the marketplace",
    worker="worker",
    requester="A research project; the marketplace shows the requester's name beside this HIT",
    accept_first="Accept the HIT to begin.",
    asked_later="You are asked whether you agree once you have accepted the HIT.",
    open_it=(
        "Please open the HIT from your list on the marketplace, accept it there, and this page will appear within it."
    ),
    return_it="Please return this HIT; returning does not count against you.",
    declined="Please return the HIT on the marketplace: that does not count against you.",
    write_or_return="write to us through the marketplace, or return the HIT: returning does not count against you.",
    points_later="Your bonus points are counted when the marketplace has confirmed your work.",
    approved_by_itself="then the marketplace approves it",
    approved_at_once="at once, by the marketplace",
    handing_over="They are saved with us, and go to the marketplace now.",
    hand_over_again=(
        "They are saved with us. If the marketplace has not taken them yet, hand them over again: that can't do harm."
    ),
    hand_over_button="Submit to the marketplace again",
    code_hint="It proves that you are done. Keep it until the marketplace says that the HIT is submitted.",
)
