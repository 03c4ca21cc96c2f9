"""Holds the default texts that a worker who marks the best and the worst reply reads. The long ones are Markdown."""

from hits.models.design_texts import flowing

DESCRIPTION = "Read short conversations and mark the best and the worst of the replies that could come next."
QUESTION = "Which reply fits the conversation so far best, and the feelings in it? Which one fits worst?"

WELCOME = flowing("""
Thank you for your interest. Here you help us find out which chatbots answer well: you read short conversations
and mark the best and the worst of the replies that could come next.
""")

INSTRUCTIONS = flowing("""
Each task shows a conversation between two speakers. Speaker 1 is on the left, speaker 2 on the right. Then come the
replies that could be next. Most were written by chatbots; one may be by a person.

Read all of them before you choose. Then mark one as the best and another one as the worst. The others stay without a
mark. A reply is good when it fits what was said and the feelings behind it; a longer one is not better for its length.
Where several seem equally good or bad, mark the one that you lean to.

Where a conversation carries a bonus point, one of its replies was written by a person, and the point is yours when
you have chosen well about that one. So choose as carefully as always; there is nothing else to do for it.
""")

WARM_UP_REPLIES: list[dict[str, object]] = [
    {
        "text": "That sounds exhausting. Shall I come over and wrap some plates?",
        "fitting": ["best"],
        "praise": "Yes: it notices the tiredness and offers help.",
        "hint": "It notices the tiredness and offers help. Could it be the best?",
    },
    {
        "text": "Moving is a lot of work.",
        "fitting": ["neither"],
        "praise": "Right: true and friendly, but one reply offers more, and one fits less.",
        "hint": "It is bland, but it fits.",
    },
    {
        "text": "Congratulations on the new shelves!",
        "fitting": ["worst"],
        "praise": "Right: nobody said anything about new shelves.",
        "hint": "Did anyone get new shelves?",
    },
]
