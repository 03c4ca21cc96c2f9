"""Lists the words that people who come by an open link read on our page."""

from hits.crowds.crowd_words import CrowdWords

LINKS_WORDS = CrowdWords(
    hit="task",
    hits="tasks",
    marketplace="the page that sent you here",
    worker="participant",
    requester="A research project, named where you found the link",
    accept_first="Follow the study's link to begin.",
    asked_later="You are asked whether you agree when you begin.",
    open_it="Please open the link again with which you came to this study.",
    return_it="You can close this page; nothing counts against you.",
    declined="You can close this page: nothing counts against you.",
    write_or_return="write to the researchers, or close this page: nothing counts against you.",
    points_later="Your bonus points are counted when your work has been collected.",
    approved_by_itself="then it counts as approved",
    approved_at_once="by a person",
    handing_over="They are saved with us, and you are done: thank you!",
    hand_over_again="They are saved with us, and you are done: thank you!",
    hand_over_button="Copy the code",
    code_hint="It proves that you are done. Enter it where you found the link if you are asked for one there.",
)
