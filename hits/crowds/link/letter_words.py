"""Says what letters to raters begin with, and fills in each rater's name, link and study.

A researcher may change subject and text. Placeholders are filled when a letter is sent, so that no row has a link.
"""

import re
from dataclasses import dataclass

from evalplatform.errors import EvalPlatformError
from hits.crowds.link.secret_links import personal_link
from hits.models import Invitation, Mailing

PLACEHOLDERS = ("name", "link", "study")
LONGEST_SUBJECT, LONGEST_TEXT = 200, 10_000


class LetterRefused(EvalPlatformError):
    """A letter can't be as it was written. `field` is the one to look at: subject or text."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class LetterText:
    subject: str
    text: str


INVITATION = LetterText(
    "Your link to “{study}”",
    "Hello {name},\n\n"
    "you are invited to take part in “{study}”. You read short conversations and judge replies to them; the page says "
    "how long that takes.\n\n"
    "This is your own link:\n{link}\n\n"
    "It works on any device, without an account or a password. You can take a break at any time, and go on with the "
    "same link. Please pass it on to nobody: what is done with it is done in your name.\n\n"
    "Thank you!\n",
)
REMINDER = LetterText(
    "A reminder: “{study}”",
    "Hello {name},\n\n"
    "there is still something for you in “{study}”. What you have done is saved, and you go on where you were:\n{link}"
    "\n\nIf you can't take part, there is nothing that you need to do.\n\n"
    "Thank you!\n",
)
USUAL_LETTERS = {Mailing.Kind.INVITATION: INVITATION, Mailing.Kind.REMINDER: REMINDER}


def check_letter(subject: str, text: str) -> LetterText:
    """Return subject and text as they are stored. Raises LetterRefused with one line on what is wrong."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not subject.strip() or len(subject) > LONGEST_SUBJECT:
        raise LetterRefused(f"Write a subject of up to {LONGEST_SUBJECT} letters.", "subject")
    if any(ord(letter) < 32 or letter in "\x7f\x85\u2028\u2029" for letter in subject):
        raise LetterRefused("A subject is one line, without line breaks or characters that can't be seen.", "subject")
    if len(text) > LONGEST_TEXT:
        raise LetterRefused(f"Write up to {LONGEST_TEXT:,} letters.", "text")
    if "{link}" in subject:
        raise LetterRefused("The link belongs in the text: subjects are shown in lists of mails.", "subject")
    if "{link}" not in text:
        raise LetterRefused("Write {link} where the rater's own link belongs.", "text")
    for field, written in (("subject", subject), ("text", text)):
        unknown = set(re.findall(r"\{(\w*)\}", written)) - set(PLACEHOLDERS)
        if unknown:
            known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
            raise LetterRefused(f"{{{sorted(unknown)[0]}}} is unknown; known are {known}.", field)
    return LetterText(subject.strip(), text)


def fill_letter(written: LetterText, invitation: Invitation) -> LetterText:
    study = invitation.offering.study.parsed_design.task.title
    values = {"name": invitation.name, "link": personal_link(invitation), "study": study}
    text = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], written.text)
    if not invitation.name:  # "Hello ," for somebody of whom only the address is known
        text = re.sub(r" +,", ",", text, count=1)
    subject = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], written.subject)
    return LetterText(" ".join(subject.split()), text)
