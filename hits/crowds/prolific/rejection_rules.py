"""Says on which grounds Prolific takes a rejection, in its own names and in words."""

from hits.crowds.abilities import RejectionRules

# Prolific has two more. FAILED_CHECK is about fair attention checks, which tell people what to answer; the hidden human
# replies are none, and studies have no others. INCOMP_LONGITUDINAL is about studies of several parts.
RULES = RejectionRules(
    categories={
        "LOW_EFFORT": "Low effort: it was hardly done at all",
        "TOO_QUICKLY": "Far too quick: more than 3 standard deviations below the mean time",
        "TOO_SLOWLY": "Far too slow",
        "FAILED_INSTRUCTIONS": "Clear instructions were not followed",
        "NO_DATA": "No data: nothing reached us",
        "NO_CODE": "No completion code",
        "BAD_CODE": "A wrong completion code",
        "MALINGERING": "Only pretended to be someone whom the study is for",
        "UNSUPP_DEVICE": "A device that the study does not allow",
        "OTHER": "Something else, which you explain",
    },
    least_letters=100,
    advice=(
        "Prolific takes a rejection for proven low effort, impossible speed, missing data, or instructions that were "
        "not followed; people may appeal. Missing the hidden human replies is no ground: nobody was told what to "
        "answer there. Asking for the work back is kinder, and costs nothing either."
    ),
)
