"""Intends letters to invited raters, sends them, and says which need a person.

In: who is to be written to, and the text. Out: one e-mail each, noted before and after. Guaranteed: a form that is sent
twice writes once; a letter is sent again by itself only while the mail server surely has not got it. Where its answer
was lost, it is not: the rater may have it, and a person decides.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access import note_event
from hits.crowds.link.letter_words import LetterText, fill_letter
from hits.crowds.link.mail_server import Delivered, NotDelivered, Refused, has_mail_server, send_mail
from hits.models import Invitation, Letter, Mailing, Offering, Study

MOST_ATTEMPTS = 12
FIRST_WAIT = timedelta(minutes=1)  # doubled after each attempt, up to LONGEST_WAIT
LONGEST_WAIT = timedelta(hours=6)

WAITS = Q(sent_at=None, dropped_at=None, sending_at=None, attempts__lt=MOST_ATTEMPTS)
DIED_AFTER = timedelta(minutes=10)
AT_ONCE = timedelta(minutes=5)  # two who press for a reminder within this mean the same one
MAY_HAVE_ARRIVED = "It may have arrived all the same: ask, before you send it again."

log = structlog.get_logger("hits.crowds.link")


@dataclass
class Sent:
    """How many letters were sent, wait for another attempt, or need a person."""

    sent: int = 0
    waiting: int = 0
    need_a_person: int = 0
    is_server_away: bool = False


# --- Intending -------------------------------------------------------------------------------------------------------


@transaction.atomic
def write_letters(
    offering: Offering,
    kind: Mailing.Kind,
    written: LetterText,
    to: Sequence[Invitation],
    press: UUID,
    by: User | None,
    now: datetime,
) -> int:
    """Save that these raters are to be written to, and return how many letters that makes. The same press again makes
    none, and so does another page that was pressed at the same time."""
    Study.objects.select_for_update().get(pk=offering.study_id)
    written_to = _written_to_meanwhile(offering, kind, now)
    letters = [Letter(invitation=one, next_at=now) for one in to if one.email and one.pk not in written_to]
    if not letters or Mailing.objects.filter(press=press).exists():
        return 0
    mailing = Mailing.objects.create(
        **{"offering": offering, "kind": kind, "subject": written.subject, "text": written.text},
        **{"press": press, "made_by": by, "made_at": now},
    )
    for one in letters:
        one.mailing = mailing
    count = len(Letter.objects.bulk_create(letters))
    what = "an invitation" if kind == Mailing.Kind.INVITATION else "a reminder"
    note_event(offering.study, f"wrote {what} to {count_of(count, 'rater')} ({offering.marketplace})", by, now)
    return count


def _written_to_meanwhile(offering: Offering, kind: Mailing.Kind, now: datetime) -> set[int]:
    """Return the invitations to which no other letter of this kind goes: one invites once, and reminds at most once
    within a few minutes. Called under the study's lock."""
    letters = Letter.objects.filter(mailing__offering=offering, dropped_at=None)
    if kind == Mailing.Kind.REMINDER:
        letters = letters.filter(mailing__kind=kind, mailing__made_at__gt=now - AT_ONCE)
    return set(letters.values_list("invitation", flat=True))


def write_again(letter: Letter, now: datetime) -> None:
    """Have a letter sent again, because a person says so. Raises EvalPlatformError if it needs no decision."""
    again = {"attempts": 0, "sending_at": None, "next_at": now, "problem": ""}
    if not Letter.objects.filter(needs_a_person(now), pk=letter.pk).update(**again):
        raise EvalPlatformError("This letter needs no decision: it was sent, or is about to be.")


def needs_a_person(now: datetime) -> Q:
    """Return which letters no run will send any more unless a person says so: in doubt, refused, given up, or being
    sent by a process that died."""
    died = Q(sending_at__lt=now - DIED_AFTER, problem="")
    in_doubt = Q(sending_at__isnull=False) & ~Q(problem="")
    given_up = Q(sending_at=None, attempts__gte=MOST_ATTEMPTS)
    return Q(sent_at=None, dropped_at=None) & (died | in_doubt | given_up)


# --- Sending ---------------------------------------------------------------------------------------------------------


def send_waiting_letters(now: datetime, check_is_ours: Callable[[Offering], None] = lambda _: None) -> Sent:
    """Send the letters that are due. Two runs at once send each once: it is claimed before it is sent.

    `check_is_ours` raises for offerings that another server has published: one with a copy of the database writes to
    nobody.
    """
    sent = Sent()
    if not has_mail_server():
        return sent
    due = Letter.objects.filter(WAITS, next_at__lte=now)
    for one in due.select_related("mailing__made_by", "mailing__offering__study", "invitation__offering__study"):
        with contextlib.suppress(EvalPlatformError):
            check_is_ours(one.mailing.offering)
            _claim_and_send(one, now, sent)
        if sent.is_server_away:
            break  # the others would only wait for it, one after the other
    return sent


def _claim_and_send(one: Letter, now: datetime, sent: Sent) -> None:
    # As they are now: a run may be long, and a link may be new or revoked since it began.
    invitation = Invitation.objects.select_related("offering__study").get(pk=one.invitation_id)
    mine = Letter.objects.filter(WAITS, pk=one.pk, next_at=one.next_at)
    if invitation.revoked_at is not None:
        mine.update(dropped_at=now)
        return
    at = max(now, timezone.now())  # a run may be long: the claim says when this letter's turn came
    if mine.update(sending_at=at, attempts=one.attempts + 1, problem=""):
        _send(one, invitation, at, sent)


def _send(one: Letter, invitation: Invitation, now: datetime, sent: Sent) -> None:
    """Send a letter that was claimed at this time."""
    filled = fill_letter(LetterText(one.mailing.subject, one.mailing.text), invitation)
    reply_to = one.mailing.made_by.email if one.mailing.made_by else ""
    found = send_mail(invitation.email, filled.subject, filled.text, reply_to, f"{one.mailing.press}.{one.pk}")
    this = Letter.objects.filter(pk=one.pk, sending_at=now)  # unless a person has decided otherwise meanwhile
    if isinstance(found, Delivered):
        Letter.objects.filter(pk=one.pk).update(sent_at=now, problem="")  # that holds whatever was decided
        sent.sent += 1
    elif isinstance(found, NotDelivered):
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2**one.attempts)
        this.update(sending_at=None, next_at=now + wait, problem=found.in_words)
        sent.waiting += 1
        sent.is_server_away = found.is_away
    elif isinstance(found, Refused):
        this.update(sending_at=None, attempts=MOST_ATTEMPTS, problem=found.in_words)
        sent.need_a_person += 1
    else:
        this.update(problem=f"{found.in_words} {MAY_HAVE_ARRIVED}")
        sent.need_a_person += 1
    log.info("letter", letter=one.pk, outcome=type(found).__name__)  # no address, and no answer that may quote it
