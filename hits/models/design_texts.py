"""What a worker reads unless the study says otherwise, whatever the protocol; its own words stand with each protocol.

These words are true of any data: they say nothing about where the conversations come from, and not who wrote which
reply, since one may be by a person. What differs from study to study (who asks, pay, time, approval, bonus) the page
says from the settings, in hits.serving.page_data.
"""

import re


def flowing(text: str) -> str:
    """Paragraphs on one line each: the line breaks here are for this file's readers only."""
    return re.sub(r"(?<!\n)\n(?![\n-])", " ", text).strip()


TITLE = "Rate replies in short conversations"
KEYWORDS = "chatbot, conversation, reply, rating, research"
CONTACT = "Write to us through the marketplace's contact form if anything is unclear or goes wrong."

WARM_UP_CONTEXT = [
    "You look worn out. Bad day?",
    "I've been packing since five. The movers come tomorrow, and half of the kitchen is still on the shelves.",
]
