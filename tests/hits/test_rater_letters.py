"""Letters to invited raters reach a real mail server: once each, again only if surely nobody has them."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from evalplatform.errors import EvalPlatformError
from hits.crowds import (
    USUAL_LETTERS,
    LetterRefused,
    check_letter,
    personal_link,
    send_waiting_letters,
    write_again,
    write_letters,
)
from hits.crowds.link.letter_words import LetterText
from hits.models import Event, Invitation, Letter, Mailing, Offering
from hits.serving import revoke_invitation
from tests.hits.crowd import now
from tests.hits.mail_server import MailServer, mail_server
from tests.hits.test_invitations import invited, offering

__all__ = ["offering"]

Kind = Mailing.Kind


@pytest.fixture
def server(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.DEFAULT_FROM_EMAIL = "The study <study@example.org>"
        yield server


@pytest.fixture
def raters(offering: Offering) -> list[Invitation]:
    return invited(offering, "Ada Lovelace, ada@example.org", "bob@example.org")


def write(offering: Offering, raters: list[Invitation], kind: Kind = Kind.INVITATION, **more: Any) -> int:
    arguments = {"press": uuid4(), "by": None, "now": now(), **more}
    return write_letters(offering, kind, USUAL_LETTERS[kind], raters, **arguments)


def test_each_gets_their_own_link_and_nobody_elses(
    offering: Offering, raters: list[Invitation], server: MailServer
) -> None:
    assert write(offering, raters) == 2

    sent = send_waiting_letters(now())

    mails = dict(server.mails)
    assert (sent.sent, set(mails)) == (2, {"ada@example.org", "bob@example.org"})
    ada, bob = (mails[address].get_content() for address in ("ada@example.org", "bob@example.org"))
    assert "Hello Ada Lovelace," in ada
    assert bob.splitlines()[0] == "Hello,"
    assert personal_link(raters[0]) in ada
    assert personal_link(raters[1]) in bob
    assert personal_link(raters[1]) not in ada
    head = mails["ada@example.org"]
    assert head["To"] == "ada@example.org"
    assert head["From"] == "The study <study@example.org>"
    assert offering.study.parsed_design.task.title in head["Subject"]


def test_the_same_press_and_a_second_run_write_once(
    offering: Offering, raters: list[Invitation], server: MailServer
) -> None:
    press = uuid4()

    counts = [write(offering, raters, press=press), write(offering, raters, press=press)]
    runs = [send_waiting_letters(now()).sent for _ in range(2)]

    assert counts == [2, 0]
    assert runs == [2, 0]
    assert len(server.mails) == 2


def test_no_row_has_a_link_and_no_event_a_name(offering: Offering, raters: list[Invitation]) -> None:
    write(offering, raters)

    secret = personal_link(raters[0]).split("/")[-2]
    rows = [*Mailing.objects.values(), *Letter.objects.values()]
    assert not any(secret in str(value) for row in rows for value in row.values())
    assert Event.objects.filter(text="wrote an invitation to 2 raters (link.trial)").exists()
    assert not Event.objects.filter(text__contains="Ada").exists()


def test_without_a_connection_it_is_tried_again_later(
    offering: Offering, raters: list[Invitation], server: MailServer, settings: Settings
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.EMAIL_PORT = closed.getsockname()[1]
        write(offering, raters)
        first = send_waiting_letters(now())
    settings.EMAIL_PORT = server.port

    at_once = send_waiting_letters(now())
    later = send_waiting_letters(now() + timedelta(minutes=3))

    assert (first.waiting, at_once.sent, later.sent) == (1, 1, 1)  # the second was not even tried
    assert len(server.mails) == 2


@pytest.mark.parametrize(
    ("command", "answer", "waiting", "problem"),
    [
        ("RCPT", "550 no such user", 0, "answered 550: no such user"),
        ("RCPT", "451 later please", 1, "answered 451: later please"),
        ("MAIL", "553 not from here", 0, "answered 553"),
        ("DATA", "421 too busy", 1, "answered 421"),
    ],
)
def test_what_the_server_refuses_is_told_at_the_rater(
    offering: Offering,
    raters: list[Invitation],
    server: MailServer,
    command: str,
    answer: str,
    waiting: int,
    problem: str,
) -> None:
    server.answers[command] = answer
    write(offering, raters[:1])

    sent = send_waiting_letters(now())

    letter = Letter.objects.get()
    assert (sent.waiting, sent.need_a_person) == (waiting, 1 - waiting)
    assert problem in letter.problem
    assert letter.sent_at is None
    assert send_waiting_letters(now()).sent == 0
    server.answers.clear()
    if not waiting:
        write_again(letter, now())
        assert send_waiting_letters(now()).sent == 1


def test_a_letter_whose_answer_was_lost_is_never_sent_again_by_itself(
    offering: Offering, raters: list[Invitation], server: MailServer
) -> None:
    server.hangs_up_after_data = True
    write(offering, raters[:1])

    sent = send_waiting_letters(now())
    again = send_waiting_letters(now() + timedelta(days=2))

    assert (sent.need_a_person, again.sent, len(server.mails)) == (1, 0, 1)
    assert "It may have arrived all the same" in Letter.objects.get().problem
    server.hangs_up_after_data = False
    write_again(Letter.objects.get(), now())
    send_waiting_letters(now())
    assert len(server.mails) == 2
    with pytest.raises(EvalPlatformError, match="needs no decision"):
        write_again(Letter.objects.get(), now())


def test_a_revoked_rater_gets_no_letter_that_waited(
    offering: Offering, raters: list[Invitation], server: MailServer
) -> None:
    write(offering, raters)
    revoke_invitation(raters[0], None, now())

    send_waiting_letters(now())

    assert [to for to, _ in server.mails] == ["bob@example.org"]
    assert Letter.objects.get(invitation=raters[0]).dropped_at is not None


def test_a_server_with_a_copy_of_the_database_writes_to_nobody(
    offering: Offering, raters: list[Invitation], server: MailServer
) -> None:
    def refuse(_: Offering) -> None:
        raise EvalPlatformError("another server's")

    write(offering, raters)

    assert send_waiting_letters(now(), refuse).sent == 0
    assert not server.mails


@pytest.mark.parametrize(
    ("subject", "text", "field"),
    [
        ("", "{link}", "subject"),
        ("Hello\nBcc: all@example.org", "{link}", "subject"),
        ("Hello\rBcc: all@example.org", "{link}", "subject"),
        ("Hello\u2028Bcc: all@example.org", "{link}", "subject"),
        ("{link}", "{link}", "subject"),
        ("Hello", "no link", "text"),
        ("Hello", "{link} {password}", "text"),
    ],
)
def test_a_letter_that_can_not_be_is_refused_at_its_field(subject: str, text: str, field: str) -> None:
    with pytest.raises(LetterRefused) as refused:
        check_letter(subject, text)

    assert refused.value.field == field


def test_a_name_or_a_title_can_not_add_a_header(offering: Offering, server: MailServer) -> None:
    invited(offering, "Eve\rBcc: all@example.org, eve@example.org")
    assert not Invitation.objects.exclude(name="").filter(name__contains="\r").exists()
    (eve,) = invited(offering, "{link} {name}, eve2@example.org")[-1:]
    Invitation.objects.filter(pk=eve.pk).update(name="Eve\r\nBcc: all@example.org")  # from before such were refused

    write_letters(
        offering, Kind.INVITATION, LetterText("For {name}", "{link}"), [eve], press=uuid4(), by=None, now=now()
    )
    send_waiting_letters(now())

    assert [to for to, _ in server.mails] == ["eve2@example.org"]
    assert server.mails[0][1]["Bcc"] is None


def test_two_researchers_who_press_at_once_write_once(
    offering: Offering, raters: list[Invitation], server: MailServer
) -> None:
    """Each page has a press of its own, and has chosen whom to write to before."""
    kinds = [Kind.INVITATION, Kind.INVITATION, Kind.REMINDER, Kind.REMINDER]

    counts = [write(offering, raters, kind) for kind in kinds]
    later = write(offering, raters, Kind.REMINDER, now=now() + timedelta(hours=1))

    assert counts == [2, 0, 2, 0]
    assert later == 2


def test_a_letter_is_claimed_when_its_turn_comes(
    offering: Offering, raters: list[Invitation], server: MailServer
) -> None:
    """Else the letters at the end of a long run would stand as sent by a process that died."""
    began = now() - timedelta(minutes=11)
    write(offering, raters, now=began)

    assert send_waiting_letters(began).sent == 2

    assert not Letter.objects.filter(sending_at__lt=now() - timedelta(minutes=1)).exists()


def test_a_password_that_can_not_be_sent_is_a_setting_to_correct(
    offering: Offering, raters: list[Invitation], server: MailServer, settings: Settings
) -> None:
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "study", "p\N{LATIN SMALL LETTER A WITH DIAERESIS}ss"
    server.answers["EHLO"] = "250-here\r\n250 AUTH PLAIN LOGIN"
    write(offering, raters)

    sent = send_waiting_letters(now())

    assert (sent.waiting, sent.is_server_away) == (1, True)
    letter = Letter.objects.exclude(problem="").get()
    assert letter.sending_at is None
    assert letter.problem == "EMAIL_HOST_USER or EMAIL_HOST_PASSWORD has letters beyond ASCII."
