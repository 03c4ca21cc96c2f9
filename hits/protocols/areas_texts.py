"""Holds the default texts that a worker who sorts replies into areas reads. The long ones are Markdown."""

from hits.models.design_texts import flowing

DESCRIPTION = "Read short conversations and sort the replies that could come next, by how well they fit."
QUESTION = "Does each reply fit the conversation so far, and the feelings in it? Put it into one of the areas."


WELCOME = flowing("""
Thank you for your interest. Here you help us find out which chatbots answer well: you read short conversations
and sort replies that could come next, by whether they fit what was said before and the feelings behind it.
""")

INSTRUCTIONS = flowing("""
Each task shows a conversation between two speakers. Speaker 1 is on the left, speaker 2 on the right. Below it are
several replies that could come next. Most were written by chatbots; one may be by a person.

- **Good**: it fits the conversation and the feelings in it.
- **Okay**: it is acceptable, but bland or slightly off.
- **Bad**: it does not fit, contradicts what was said, or makes no sense.

Several replies may go into the same area. Judge each on its own merits; there is no right number of good ones.

Where a conversation carries a bonus point, one of its replies was written by a person, and the point is yours when you
have put that one into a fitting area. So sort as carefully as always; there is nothing else to do for it.
""")

CONSENT = flowing("""
Your answers are used for research and published without your ID. We also record how long each conversation takes, when
the page is in the background, and how replies are moved; and, until your work is confirmed, an unreadable form of your
internet address, against forged visits. Taking part is voluntary: you may stop at any time, and stopping does not count
against you.
""")

WARM_UP_REPLIES: list[dict[str, object]] = [
    {
        "text": "That sounds exhausting. Shall I come over and wrap some plates?",
        "areas": ["good"],
        "praise": "Yes: it notices the tiredness and offers help.",
        "hint": "It notices the tiredness and offers help. Could it be better than that?",
    },
    {
        "text": "Moving is a lot of work.",
        "areas": ["okay", "good"],
        "praise": "Right: true and friendly, if a bit bland.",
        "hint": "It is bland, but it fits.",
    },
    {
        "text": "Congratulations on the new shelves!",
        "areas": ["bad"],
        "praise": "Right: nobody said anything about new shelves.",
        "hint": "Did anyone get new shelves?",
    },
    {
        "text": "I've been packing since five since five since five.",
        "areas": ["bad"],
        "praise": "Right: it only repeats, and not even well.",
        "hint": "Read it once more: does it answer anything?",
    },
]
