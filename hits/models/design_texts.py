"""Holds the default texts that a worker reads in any protocol; each protocol has its own texts beside these.

They are true of any data and on any crowd: they do not say where the conversations come from, nor who wrote which
reply, since one may be by a person, nor what a HIT or a worker is called. So a study that is offered elsewhere has the
same texts, and the page adds the crowd's own words (hits/crowds/crowd_words.py). What differs between studies (who runs
it, pay, time, approval, bonus) the page takes from the settings, in hits.serving.page_data.
"""

import re


def flowing(text: str) -> str:
    """Join each paragraph into one line. The line breaks in this file are only for its readers."""
    return re.sub(r"(?<!\n)\n(?![\n-])", " ", text).strip()


TITLE = "Rate replies in short conversations"
KEYWORDS = "chatbot, conversation, reply, rating, research"
CONTACT = "Write to us where you found this study if anything is unclear or goes wrong."

# For protocols that record in which order a worker answers, and no moves of cards.
CONSENT_TO_ORDER = flowing("""
Your answers are used for research and published without your ID. We also record how long each conversation takes, when
the page is in the background, and in which order you answer; and, until your work is confirmed, an unreadable form of
your internet address, against forged visits. Taking part is voluntary: you may stop at any time, and stopping does not
count against you.
""")

WARM_UP_CONTEXT = [
    "You look worn out. Bad day?",
    "I've been packing since five. The movers come tomorrow, and half of the kitchen is still on the shelves.",
]
