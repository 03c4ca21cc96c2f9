"""Holds the default texts that a worker who rates replies on scales reads. The long ones are Markdown."""

from hits.models.design_texts import flowing

DESCRIPTION = "Read short conversations and rate the replies that could come next."
QUESTION = "Rate each reply by itself. Does it fit the conversation so far, and the feelings in it?"

WELCOME = flowing("""
Thank you for your interest. Here you help us find out which chatbots answer well: you read short conversations
and rate replies that could come next.
""")

INSTRUCTIONS = flowing("""
Each task shows a conversation between two speakers. Speaker 1 is on the left, speaker 2 on the right. Then come the
replies that could be next. Most were written by chatbots; one may be by a person.

Answer every question about each reply. Use the whole scale, and judge each reply on its own merits: several may deserve
the same, and there is no right number of good ones. The questions ask about different things, so a reply may deserve
much on one and little on another.

Where a conversation carries a bonus point, one of its replies was written by a person, and the point is yours when you
have rated that one high enough. So rate as carefully as always; there is nothing else to do for it.
""")

CRITERIA: list[dict[str, object]] = [
    {
        "name": "empathy",
        "label": "Empathy",
        "question": "Does the reply understand the feelings of the other speaker?",
        "words": ["1: not at all", "3: somewhat", "5: very much"],
    },
    {
        "name": "relevance",
        "label": "Relevance",
        "question": "Is the reply about what was said?",
        "words": ["1: not at all", "3: somewhat", "5: very much"],
    },
    {
        "name": "fluency",
        "label": "Fluency",
        "question": "Is the language of the reply easy to understand, and right?",
        "words": ["1: not at all", "3: somewhat", "5: very much"],
    },
]

WARM_UP_REPLIES: list[dict[str, object]] = [
    {
        "text": "That sounds exhausting. Shall I come over and wrap some plates?",
        "fitting": ["high"],
        "praise": "Yes: it notices the tiredness and offers help.",
        "hint": "It notices the tiredness and offers help. Could it deserve more?",
    },
    {
        "text": "Moving is a lot of work.",
        "fitting": ["middle", "high"],
        "praise": "Right: true and friendly, if a bit bland.",
        "hint": "It is bland, but it fits.",
    },
    {
        "text": "Congratulations on the new shelves!",
        "fitting": ["low"],
        "praise": "Right: nobody said anything about new shelves.",
        "hint": "Did anyone get new shelves?",
    },
]
