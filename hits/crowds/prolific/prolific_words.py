"""Lists the words that participants from Prolific read about it on our page."""

from hits.crowds.crowd_words import CrowdWords

PROLIFICS_WORDS = CrowdWords(
    hit="task",
    hits="tasks",
    marketplace="Prolific",
    worker="participant",
    requester="A research project; Prolific shows the researcher's name beside this study",
    accept_first="Reserve a place on Prolific to begin.",
    asked_later="You are asked whether you agree once you have come from Prolific.",
    open_it="Please open the study from your list on Prolific, which leads you here with your ids.",
    return_it="Please return your submission on Prolific; returning does not count against you.",
    declined="Please return your submission on Prolific: that does not count against you.",
    write_or_return="write to us through Prolific, or return your submission: returning does not count against you.",
    points_later="Your bonus points are counted when Prolific has confirmed your work.",
    approved_by_itself="then Prolific approves it",
    approved_at_once="at once, by us on Prolific",
    handing_over="They are saved with us. Prolific's page comes next, and takes your completion code by itself.",
    hand_over_again=(
        "They are saved with us. If Prolific does not show your work as completed yet, go there again: that can't do "
        "harm."
    ),
    hand_over_button="Complete on Prolific",
    code_hint="It proves that you are done. If Prolific's page does not open, enter this code there.",
)
