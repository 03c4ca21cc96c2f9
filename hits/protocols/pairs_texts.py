"""Holds the default texts that a worker who compares two replies reads. The long ones are Markdown."""

from hits.models.design_texts import flowing

DESCRIPTION = "Read short conversations and choose the better of two replies that could come next."
QUESTION = "Which reply fits the conversation so far better, and the feelings in it?"

WELCOME = flowing("""
Thank you for your interest. Here you help us find out which chatbots answer well: you read short conversations
and choose the better of two replies that could come next.
""")

INSTRUCTIONS = flowing("""
Each task shows a conversation between two speakers. Speaker 1 is on the left, speaker 2 on the right. Then come two
replies that could be next. Most were written by chatbots; one may be by a person.

Read both before you choose. Which of them stands first is a matter of chance, so go by what they say. A reply is better
when it fits what was said and the feelings behind it; a longer one is not better for being longer.

Where a conversation carries a bonus point, one of its two replies was written by a person, and the point is yours when
you have chosen well about that one. So choose as carefully as always; there is nothing else to do for it.
""")

# The two that are compared in the warm-up.
WARM_UP_REPLIES: list[dict[str, object]] = [
    {
        "text": "That sounds exhausting. Shall I come over and wrap some plates?",
        "fitting": ["better"],
        "praise": "Yes: it notices the tiredness and offers help.",
        "hint": "Which one notices the tiredness?",
    },
    {
        "text": "Congratulations on the new shelves!",
        "fitting": ["worse"],
        "praise": "Right: nobody said anything about new shelves.",
        "hint": "Did anyone get new shelves?",
    },
]
