"""Gives one e-mail to the mail server that the environment names, and says what surely became of it.

In: an address, a subject and a text. Out: delivered, not delivered (nobody has it, so try again), refused for good, or
in doubt: the connection broke after the server may have taken it.
"""

import contextlib
import smtplib
from dataclasses import dataclass
from email.utils import parseaddr

from django.conf import settings
from django.core.mail import BadHeaderError, EmailMessage
from django.core.mail.backends.smtp import EmailBackend

SECONDS = 20


@dataclass(frozen=True)
class Delivered:
    """The mail server has taken it."""


@dataclass(frozen=True)
class NotDelivered:
    in_words: str
    is_away: bool = False  # the server itself, so that other mails would fare the same


@dataclass(frozen=True)
class Refused:
    in_words: str


@dataclass(frozen=True)
class InDoubt:
    in_words: str


Found = Delivered | NotDelivered | Refused | InDoubt


def has_mail_server() -> bool:
    return bool(settings.EMAIL_HOST)


def send_mail(to: str, subject: str, text: str, reply_to: str, name: str) -> Found:
    """Send one e-mail, once. `name` makes its Message-ID, which is the same at each attempt."""
    try:
        connection = EmailBackend(timeout=SECONDS, fail_silently=False)
        connection.open()
    except smtplib.SMTPAuthenticationError:
        return NotDelivered("The mail server did not accept EMAIL_HOST_USER and EMAIL_HOST_PASSWORD.", is_away=True)
    except UnicodeError:  # its words would quote the password
        return NotDelivered("EMAIL_HOST_USER or EMAIL_HOST_PASSWORD has letters beyond ASCII.", is_away=True)
    except (smtplib.SMTPException, OSError) as error:
        return NotDelivered(f"There was no connection to the mail server: {_in_words(error)}", is_away=True)
    host = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "localhost"
    message = EmailMessage(
        subject,
        text,
        settings.DEFAULT_FROM_EMAIL,
        [to],
        headers={"Message-ID": f"<{name}@{host}>", "Auto-Submitted": "auto-generated"},
        reply_to=[reply_to] if reply_to else [],
        connection=connection,
    )
    try:
        message.send()
    except (BadHeaderError, ValueError, smtplib.SMTPNotSupportedError):
        return Refused("The subject or the address can't be sent by this mail server.")
    except smtplib.SMTPRecipientsRefused as refused:
        code, said = next(iter(refused.recipients.values()), (550, b""))
        return _refused(code, said)
    except smtplib.SMTPResponseException as refused:  # a sender or a text that was refused, by an answer that we have
        return _refused(refused.smtp_code, refused.smtp_error)
    except (smtplib.SMTPException, OSError) as error:
        return InDoubt(f"The connection to the mail server broke: {_in_words(error)}")
    finally:
        _hang_up(connection)
    return Delivered()


def _refused(code: int, said: bytes | str) -> Found:
    """Return what an answer means: codes from 400 are for now, those from 500 for good."""
    words = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    line = f"The mail server answered {code}: {' '.join(words.split())[:200]}"
    return NotDelivered(line) if 400 <= code < 500 else Refused(line)


def _hang_up(connection: EmailBackend) -> None:
    """Hang up. What the server says to that changes nothing."""
    with contextlib.suppress(smtplib.SMTPException, OSError):
        connection.close()


def _in_words(error: Exception) -> str:
    return f"{' '.join(str(error).split())[:200] or type(error).__name__}."
