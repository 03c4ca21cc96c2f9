"""Researchers invite raters on a page: lists, progress, letters, revoking, links and payroll as CSV; the command."""

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.test import Client
from pytest_django import Settings

from hits.crowds import personal_link, send_waiting_letters
from hits.models import Assignment, Event, Invitation, Letter, Offering, Payment
from hits.monitoring import list_invited
from tests.hits.crowd import now
from tests.hits.mail_server import MailServer, mail_server
from tests.hits.test_invitations import Rater, invited, offered
from tests.hits.test_links import collected, run

HERE = {"market": "link.trial"}
PAGE = "/studies/demo/invitations/"


@pytest.fixture
def offering(example_corpus: None, researcher_client: Client, transactional_db: None) -> Offering:
    offering = offered()
    offering.study.__class__.objects.update(owner=researcher_client.session["_auth_user_id"])
    return offering


@pytest.fixture
def server(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.DEFAULT_FROM_EMAIL = "study@example.org"
        yield server


def text_of(response: object) -> str:
    return " ".join(unescape(response.content.decode()).split())  # type: ignore[attr-defined]


def shown(client: Client) -> str:
    return text_of(client.get(PAGE, HERE))


def add(client: Client, lines: str) -> str:
    return text_of(client.post(PAGE, {**HERE, "list": lines}, follow=True))


def rows_of(response: object) -> list[dict[str, str]]:
    text = response.content.decode("utf-8-sig")  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text)))


# --- Adding ----------------------------------------------------------------------------------------------------------


def test_the_links_page_leads_to_the_invitations(offering: Offering, researcher_client: Client) -> None:
    assert "Invite raters" in text_of(researcher_client.get("/studies/demo/links/", HERE))


def test_a_pasted_list_becomes_a_link_each(offering: Offering, researcher_client: Client) -> None:
    told = add(researcher_client, "Ada Lovelace, ada@example.org\nBob")
    again = add(researcher_client, "Ada Lovelace, ada@example.org\nBob")

    assert "2 raters invited." in told
    assert "0 raters invited; 2 lines about people who were invited already." in again
    for one in Invitation.objects.all():
        assert personal_link(one) in again
    assert "2 invited so far" in text_of(researcher_client.get("/studies/demo/links/", HERE))


def test_bad_lines_are_named_and_stay_and_good_ones_are_added(offering: Offering, researcher_client: Client) -> None:
    response = researcher_client.post(PAGE, {**HERE, "list": "Ada\nbob@\nCy"})

    text = text_of(response)
    assert response.status_code == 422
    assert "2 raters invited." in text
    assert "Line 2 (bob@) has an e-mail address that can't be right." in text
    assert ">bob@</textarea>" in text
    assert "2 invited</p>" in text
    assert Invitation.objects.count() == 2


def test_a_file_of_a_spreadsheet_is_read(offering: Offering, researcher_client: Client) -> None:
    file = SimpleUploadedFile("raters.csv", "Name;E-Mail\nJosé Núñez;jose@example.org\n".encode("cp1252"))

    response = researcher_client.post(PAGE, {**HERE, "list": "", "file": file}, follow=True)

    assert "1 rater invited." in text_of(response)
    assert Invitation.objects.get().name == "José Núñez"


def test_nothing_typed_is_told_at_the_field(offering: Offering, researcher_client: Client) -> None:
    response = researcher_client.post(PAGE, {**HERE, "list": " \n"})

    assert response.status_code == 422
    assert 'id="raters-list-problem"' in response.content.decode()


def test_strangers_see_and_change_nothing(offering: Offering, django_user_model: type) -> None:
    (ada,) = invited(offering, "Ada")
    stranger = Client()
    stranger.force_login(django_user_model.objects.create_user("sam"))  # type: ignore[attr-defined]

    codes = [
        stranger.get(PAGE, HERE).status_code,
        stranger.post(PAGE, {**HERE, "list": "Bob"}).status_code,
        stranger.post(f"{PAGE}{ada.pk}/change/", {**HERE, "do": "revoke"}).status_code,
        stranger.post(f"{PAGE}links.csv", HERE).status_code,
        stranger.post(f"{PAGE}payroll.csv", HERE).status_code,
        stranger.post(f"{PAGE}letters/", HERE).status_code,
    ]

    assert codes == [404] * 6
    assert Invitation.objects.filter(revoked_at=None).count() == 1


def test_a_study_elsewhere_has_no_invitations(offering: Offering, researcher_client: Client) -> None:
    response = researcher_client.get(PAGE, {"market": "local"}, follow=True)

    assert "Raters are invited by name to studies by link" in text_of(response)


# --- Progress --------------------------------------------------------------------------------------------------------


def test_the_page_tells_how_far_each_is(offering: Offering, researcher_client: Client) -> None:
    ada, bob, *_ = [Rater(one) for one in invited(offering, "Ada", "Bob", "Cy")]
    bob.look()
    ada.agree().submit()
    ada.agree().save(0, "good")

    rows = {one.invitation.name: one for one in list_invited(offering)}
    text = shown(researcher_client)

    assert (rows["Ada"].state, rows["Ada"].done, rows["Ada"].in_hand, rows["Ada"].left) == ("agreed", 1, 1, 0)
    assert (rows["Bob"].state, rows["Bob"].done, rows["Bob"].left) == ("opened", 0, 2)
    assert (rows["Cy"].state, rows["Cy"].active_at) == ("invited", None)
    assert "1 invited · 1 opened · 1 agreed" in text
    ada.submit()
    assert {one.state for one in list_invited(offering)} == {"finished", "opened", "invited"}


def test_the_number_of_queries_does_not_grow_with_the_raters(
    offering: Offering, django_assert_max_num_queries: object
) -> None:
    for one in invited(offering, *[f"Rater {number}" for number in range(12)])[:3]:
        Rater(one).agree()

    with django_assert_max_num_queries(14):  # type: ignore[operator]
        assert len(list_invited(offering)) == 12


def test_buttons_revoke_restore_and_give_a_new_link(offering: Offering, researcher_client: Client) -> None:
    (ada,) = invited(offering, "Ada")
    rater = Rater(ada).agree()
    change = f"{PAGE}{ada.pk}/change/"

    revoked = text_of(researcher_client.post(change, {**HERE, "do": "revoke"}, follow=True))
    refused = rater.save(0, "good")
    restored = text_of(researcher_client.post(change, {**HERE, "do": "restore"}, follow=True))
    renewed = text_of(researcher_client.post(change, {**HERE, "do": "renew"}, follow=True))

    assert "Ada's link opens nothing any more" in revoked
    assert "opens nothing</td>" in revoked.replace("> ", ">").replace(" <", "<")
    assert refused.json()["code"] == "revoked"
    assert "Ada can go on, by the same link" in restored
    assert "Ada has a new link" in renewed
    assert rater.look().status_code == 404
    assert rater.save(0, "good").status_code == 200


# --- Downloads -------------------------------------------------------------------------------------------------------


def test_links_are_downloaded_without_formulas_and_that_is_noted(offering: Offering, researcher_client: Client) -> None:
    ada, eve, bob = invited(offering, "Ada, ada@example.org", "=HYPERLINK(1), eve@example.org", "Bob")
    researcher_client.post(f"{PAGE}{bob.pk}/change/", {**HERE, "do": "revoke"})

    response = researcher_client.post(f"{PAGE}links.csv", HERE)

    assert [(row["name"], row["email"], row["link"]) for row in rows_of(response)] == [
        ("Ada", "ada@example.org", personal_link(ada)),
        ("'=HYPERLINK(1)", "eve@example.org", personal_link(eve)),
    ]
    assert response["Cache-Control"] == "no-store"
    assert Event.objects.filter(text="downloaded the personal links of raters (link.trial)").exists()
    assert researcher_client.get(f"{PAGE}links.csv", HERE).status_code == 405


def test_the_payroll_counts_collected_work_and_says_what_is_in_hand(
    offering: Offering, researcher_client: Client
) -> None:
    ada, bob, _ = (Rater(one) for one in invited(offering, "Ada, ada@example.org", "+Bob", "Cy"))
    ada.agree().submit()
    collected(offering)
    ada.agree().submit()
    bob.agree().save(0, "good")

    ada_row, bob_row, cy_row = rows_of(researcher_client.post(f"{PAGE}payroll.csv", HERE))

    assert {**ada_row, "hours": ""} == {
        **{"name": "Ada", "email": "ada@example.org", "tasks": "1", "dialogs": "10", "hours": ""},
        **{"ratings": str(Assignment.objects.first().submission.ratings.count()), "reward": "0.40"},  # type: ignore[union-attr]
        **{"bonus": f"{_bonus():.2f}", "total": f"{0.40 + _bonus():.2f}", "currency": "USD"},
        **{"tasks_in_hand": "0", "tasks_not_collected": "1", "worker": ada.invitation.worker_id},
        "due": "rehearsal: nothing is due",
        "note": "Rehearsed: not for publication",
    }
    assert re.fullmatch(r"\d+\.\d\d", ada_row["hours"])
    assert (bob_row["name"], bob_row["tasks"], bob_row["tasks_in_hand"]) == ("'+Bob", "0", "1")
    assert (cy_row["total"], cy_row["tasks_not_collected"]) == ("0.00", "0")
    assert Event.objects.filter(text="downloaded the payroll of invited raters (link.trial)").exists()


def _bonus() -> float:
    return sum(Payment.objects.filter(kind="bonus").values_list("cents", flat=True)) / 100


# --- Letters ---------------------------------------------------------------------------------------------------------


def test_without_a_mail_server_the_page_says_what_to_set(offering: Offering, researcher_client: Client) -> None:
    invited(offering, "Ada, ada@example.org")

    text = shown(researcher_client)
    refused = researcher_client.post(f"{PAGE}letters/", {**HERE, "kind": "invitation"})

    assert "Set <code>EMAIL_HOST</code>" in text
    assert 'id="invitation-addresses">ada@example.org</span>' in text
    assert refused.status_code == 422
    assert not Letter.objects.exists()


def letter_form(client: Client, kind: str) -> dict[str, str]:
    page = client.get(PAGE, HERE).content.decode()
    form = page.partition(f'name="kind" value="{kind}"')[2]
    found = {name: re.search(rf'name="{name}"[^>]*value="([^"]*)"', form) for name in ("press", "subject")}
    text = re.search(r"<textarea[^>]*>(.*?)</textarea>", form, re.DOTALL)
    assert text
    assert all(found.values())
    return {
        **HERE,
        "kind": kind,
        "text": unescape(text[1]),
        **{name: unescape(one[1]) for name, one in found.items() if one},
    }


def test_a_double_click_writes_once_and_a_reminder_goes_to_who_has_not_finished(
    offering: Offering, researcher_client: Client, server: MailServer
) -> None:
    ada, bob = (Rater(one) for one in invited(offering, "Ada, ada@example.org", "Bob, bob@example.org"))
    form = letter_form(researcher_client, "invitation")
    told = [text_of(researcher_client.post(f"{PAGE}letters/", form, follow=True)) for _ in range(2)]
    send_waiting_letters(now())
    ada.agree().submit()
    ada.agree().submit()

    reminder = {**letter_form(researcher_client, "reminder"), "subject": "Only today", "text": "Go on: {link}"}
    researcher_client.post(f"{PAGE}letters/", reminder)
    send_waiting_letters(now())

    assert "2 letters to send" in told[0]
    assert "Nothing was sent" in told[1]
    assert [to for to, _ in server.mails] == ["ada@example.org", "bob@example.org", "bob@example.org"]
    assert server.mails[2][1]["Subject"] == "Only today"
    assert personal_link(bob.invitation) in server.mails[2][1].get_content()
    assert "Invite who was not written to yet (0)" in shown(researcher_client)


def test_a_subject_with_a_line_break_is_refused_and_what_was_typed_stays(
    offering: Offering, researcher_client: Client, server: MailServer
) -> None:
    invited(offering, "Ada, ada@example.org")
    form = letter_form(researcher_client, "invitation")
    form |= {"subject": "Hello\nBcc: all@example.org", "text": "Mine {link}"}

    response = researcher_client.post(f"{PAGE}letters/", form)

    text = text_of(response)
    assert response.status_code == 422
    assert "A subject is one line" in text
    assert "Mine {link}</textarea>" in text
    assert not Letter.objects.exists()


def test_a_letter_that_failed_is_shown_with_a_button_to_send_it_again(
    offering: Offering, researcher_client: Client, server: MailServer
) -> None:
    (ada,) = invited(offering, "Ada, ada@example.org")
    server.answers["RCPT"] = "550 no such user"
    researcher_client.post(f"{PAGE}letters/", letter_form(researcher_client, "invitation"))
    send_waiting_letters(now())
    failed = shown(researcher_client)
    server.answers.clear()

    told = researcher_client.post(f"{PAGE}{ada.pk}/change/", {**HERE, "do": "write-again"}, follow=True)
    send_waiting_letters(now())

    assert "The mail server answered 550: no such user" in failed
    assert "Send again" in failed
    assert "is sent again within a minute or two" in text_of(told)
    assert len(server.mails) == 1


# --- The command -----------------------------------------------------------------------------------------------------


def test_the_command_invites_prints_counts_and_links(offering: Offering, tmp_path: Path) -> None:
    file = tmp_path / "raters.csv"
    file.write_text("name,e-mail\nAda,ada@example.org\n=1+1,eve@example.org\n")

    told = run("invite_raters", "demo", str(file), "--links")
    again = run("invite_raters", "demo", str(file))

    assert "2 raters invited." in told
    assert f"Ada,ada@example.org,{personal_link(Invitation.objects.get(name='Ada'))}" in told
    assert "'=1+1,eve@example.org," in told
    assert again.strip() == "0 raters invited; 2 lines about people who were invited already."


def test_the_command_names_bad_lines_and_adds_the_others(offering: Offering, tmp_path: Path) -> None:
    file = tmp_path / "raters.txt"
    file.write_text("Ada\nbob@\n")

    with pytest.raises(CommandError, match="1 line could not be read; the others were"):
        run("invite_raters", "demo", str(file))

    assert Invitation.objects.get().name == "Ada"
