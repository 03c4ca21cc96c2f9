"""People invited by name: their lists, their own page and link, several HITs, two devices, breaks and revocation."""

import re
from html import unescape
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
import structlog
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from pytest_django import Settings

from hits.access import make_token
from hits.batching import build_hits
from hits.crowds import invite_raters, open_crowd, personal_link, read_list, recruited_by
from hits.crowds.link.invitations import give_new_link
from hits.designing import create_study
from hits.exporting import export_bundle
from hits.models import (
    Assignment,
    Departure,
    Event,
    HitPlaces,
    Invitation,
    Offering,
    OpenLink,
    Study,
    Submission,
    offering_for,
)
from hits.monitoring import count_progress
from hits.publishing import plan_publishing, publish_hits, stop_study
from hits.serving import restore_invitation, revoke_invitation
from hits.serving.bonus_words import UNPAID_REHEARSAL
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.test_links import FOR_LINKS, Visitor, collected, run

BROWSER = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"}


def offered(hits: int = 3, **crowd: Any) -> Offering:
    study = create_study({**DEMO, "crowd": {**FOR_LINKS, **crowd}})
    snapshots.build(study)
    study.refresh_from_db()
    run("publish_hits", "demo", "--crowd", "link", "--hits", str(hits))
    return offering_for(study, "link.trial")


@pytest.fixture
def offering(example_corpus: None, researcher: None, transactional_db: None) -> Offering:
    return offered()


class Rater(Visitor):
    """A rater with their own link, on one device."""

    def __init__(self, invitation: Invitation) -> None:
        self.invitation = invitation
        self.client = Client(headers=BROWSER)
        self.address = urlsplit(personal_link(invitation)).path
        self.work: dict[str, Any] = {}
        self.parameters = {}

    def save(self, position: int, area: str) -> Any:
        dialog = self.work["dialogs"][position]
        areas = {str(place): area for place in range(len(dialog["cards"]))}
        sent = {"position": position, "revision": dialog["answer"]["revision"], "areas": areas}
        return self.call("save", {"step": f"dialog-{position}", "dialogs": [sent]})

    @property
    def assignment(self) -> Assignment:
        return Assignment.objects.filter(crowd_worker_id=self.invitation.worker_id).latest("pk")


def invited(offering: Offering, *lines: str) -> list[Invitation]:
    invite_raters(offering, read_list("\n".join(lines)).people, None, now())
    return list(Invitation.objects.filter(offering=offering))


@pytest.fixture
def ada(offering: Offering) -> Rater:
    return Rater(invited(offering, "Ada Lovelace, ada@example.org")[0])


# --- Lists -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "Ada Lovelace, ada@example.org",
        "ada@example.org; Ada Lovelace",
        "Ada Lovelace\tada@example.org",
        "Ada Lovelace <ada@example.org>",
        '"Ada Lovelace" <ada@example.org>,',
        "name,e-mail\nAda Lovelace,ada@example.org",
        "E-Mail;Group;First name;Last name\nada@example.org;B;Ada;Lovelace",
    ],
)
def test_a_list_is_read_as_people_write_them(line: str) -> None:
    read = read_list(line)

    assert [(one.name, one.email) for one in read.people] == [("Ada Lovelace", "ada@example.org")]
    assert not read.problems


def test_lines_that_can_not_be_read_are_named_and_cost_no_other() -> None:
    read = read_list(
        "Ada\n\nbob@\nCy, Doe, extra\na@example.org, b@example.org\nEve\x00, e@example.org\nfay@example.org"
    )

    assert [(one.name, one.email) for one in read.people] == [("Ada", ""), ("", "fay@example.org")]
    assert [one.line for one in read.problems] == [3, 4, 5, 6]
    assert "an e-mail address that can't be right" in read.problems[0].why


def test_a_second_paste_invites_nobody_twice(offering: Offering) -> None:
    lines = "Ada, ada@example.org\nBob\nADA again, ADA@example.org\nbob"

    first = invite_raters(offering, read_list(lines).people, None, now())
    second = invite_raters(offering, read_list(f"{lines}\nBob, bob@example.org\nCy").people, None, now())

    assert (first.new, first.known) == (2, 2)
    assert (second.new, second.known, second.completed) == (1, 4, 1)
    assert list(Invitation.objects.values_list("name", "email")) == [
        ("Ada", "ada@example.org"),
        ("Bob", "bob@example.org"),
        ("Cy", ""),
    ]


def test_the_log_names_nobody(offering: Offering) -> None:
    (ada,) = invited(offering, "Ada Lovelace, ada@example.org")
    revoke_invitation(ada, None, now())
    restore_invitation(ada, None, now())
    give_new_link(ada, None, now())

    texts = " ".join(Event.objects.values_list("text", flat=True))

    assert "invited 1 rater by name" in texts
    assert "revoked the invitation of W-" in texts
    assert not re.search("Ada|Lovelace|example.org", texts)
    assert ada.worker_id not in texts


# --- Their own page --------------------------------------------------------------------------------------------------


def test_the_page_greets_and_tells_what_is_left_and_takes_no_place(ada: Rater) -> None:
    text = ada.text()

    assert "Hello, Ada Lovelace" in text
    assert "<dt>Done</dt><dd>nothing yet</dd>" in text
    assert "<dt>Left for you</dt><dd>up to 2 tasks</dd>" in text
    assert "I agree and begin" in text
    assert "Your consent" in text
    assert not Assignment.objects.exists()
    assert Invitation.objects.get().opened_at is not None


def test_a_revoked_raters_work_is_in_nobodys_hand_and_they_hear_what_becomes_of_it(
    offering: Offering, ada: Rater
) -> None:
    ada.agree().save(0, "good")
    before = count_progress(offering)
    revoke_invitation(ada.invitation, None, now())

    assert (before.in_hand, count_progress(offering).in_hand) == (1, 0)
    assert "What you had begun and not handed in is kept, but is not counted" in ada.text()


def test_the_raters_page_tells_who_sees_their_name(ada: Rater) -> None:
    text = ada.text()

    assert "the researchers see your name or address" in text
    assert "10 short conversations for each task" in text
    assert "Limit" not in text


def test_a_device_that_comes_too_late_is_led_to_the_raters_own_page(ada: Rater) -> None:
    other = Rater(ada.invitation)
    ada.agree()
    other.agree()
    ada.submit()

    answer = other.save(0, "good").json()

    assert answer["code"] == "already-submitted"
    assert answer["own_page"] == ada.address


def test_an_agreement_to_the_same_text_holds_for_the_next_task(ada: Rater) -> None:
    first = ada.text()
    ada.agree().submit()
    then = ada.text()
    ada.agree()

    assert "I agree and begin" in first
    assert "that holds for your next task" in then
    assert "I agree and begin" not in then
    assert "Begin the next task" in then
    assert ada.assignment.submitted_at is None
    assert ada.assignment.consented_at is not None


def test_a_rehearsal_says_that_nothing_is_paid_from_the_link_to_the_thanks(ada: Rater) -> None:
    page = ada.text()
    facts = ada.agree().work["facts"]
    told = ada.submit()

    assert "This is a rehearsal: nothing is paid for it" in page
    assert "none: this is a rehearsal, and nothing is paid" in page
    assert (facts["reward"], facts["bonus"], facts["unpaid"]) == ("", "", UNPAID_REHEARSAL)
    assert "we pay" not in facts["bonus_rule"]
    assert "$" not in page
    assert told["points"].endswith("This was a rehearsal: nothing is paid.")


def test_programs_that_look_at_links_in_mails_begin_nothing(ada: Rater) -> None:
    for headers in ({}, {**BROWSER, "Sec-Purpose": "prefetch;prerender"}):
        looked = Client(headers=headers)
        assert looked.get(ada.address).status_code == 200
        assert looked.head(ada.address).status_code == 200

    assert not Assignment.objects.exists()
    assert Invitation.objects.get().opened_at is None
    assert HitPlaces.objects.filter(taken__gt=0).count() == 0


def test_the_address_is_told_to_nobody_and_kept_nowhere(ada: Rater) -> None:
    response = ada.look()

    assert response["Referrer-Policy"] == "no-referrer"
    assert "no-store" in response["Cache-Control"]
    assert "noindex" in response["X-Robots-Tag"]
    assert not response.cookies


def test_a_rater_does_as_many_hits_as_the_study_allows_and_no_dialog_twice(offering: Offering, ada: Rater) -> None:
    told = [ada.agree().submit(), ada.agree().submit()]

    text = ada.text()
    assert [(one["way"], one["action"], one["code"]) for one in told] == [("redirect", ada.address, "")] * 2
    assert "You have done all that there is for you" in text
    assert "2 tasks, 20 conversations" in text
    assert "I agree" not in text
    items = Assignment.objects.values_list("hit__items__dialog", flat=True)
    assert len(set(items)) == len(items) == 20


def test_declining_is_counted_and_names_nobody(ada: Rater) -> None:
    text = unescape(ada.answer("leave").content.decode())

    assert "You don't take part" in text
    assert Departure.objects.get().outcome == "no consent"
    assert not Assignment.objects.exists()
    assert "I agree and begin" in ada.text()


def test_collected_work_is_the_raters_and_names_nobody(offering: Offering, ada: Rater) -> None:
    ada.agree().submit()
    collected(offering)

    submission = Submission.objects.get()
    assert (submission.problem, submission.origin) == ("", "rehearsal")
    assert submission.assignment.crowd_worker_id == ada.invitation.worker_id
    assert re.fullmatch(r"invited_[0-9a-f]{20}", ada.invitation.worker_id)
    assert submission.assignment.consent_version == offering.study.parsed_design.task.consent_version


def test_on_the_live_link_they_are_the_studys_raters(
    example_corpus: None, researcher: None, transactional_db: None, settings: Settings
) -> None:
    study = create_study({**DEMO, "crowd": FOR_LINKS})
    build_hits(study)
    study.refresh_from_db()
    settings.PUBLIC_URL = "https://eval.example.org"
    offering = offering_for(study, "link.live")
    publish_hits(plan_publishing(offering, 1), open_crowd(offering), "https://eval.example.org/work", now)

    Rater(invited(offering, "Ada")[0]).agree().submit()
    collected(offering)

    assert Submission.objects.get().origin == "people"


# --- Devices and breaks ----------------------------------------------------------------------------------------------


def test_the_same_work_goes_on_on_another_device(ada: Rater) -> None:
    phone = Rater(ada.invitation)
    ada.agree().save(0, "good")

    text = phone.text()
    phone.agree()

    assert "Go on" in text
    assert "you have worked on 1 of 10 conversations" in text
    assert Assignment.objects.count() == 1
    assert set(phone.work["dialogs"][0]["answer"]["areas"].values()) == {"good"}


def test_what_is_unsent_on_one_device_overwrites_nothing_newer(ada: Rater) -> None:
    phone = Rater(ada.invitation)
    ada.agree()
    phone.agree().save(0, "bad")

    late = ada.save(0, "good").json()["dialogs"][0]

    assert late["conflict"] is True
    assert set(late["areas"].values()) == {"bad"}


def test_a_comment_that_was_written_on_the_other_device_stays(ada: Rater) -> None:
    phone = Rater(ada.invitation)
    ada.agree()
    phone.agree().call("save", {"step": "finish", "dialogs": [], "feedback": "Number 3 made me laugh."})

    ada.submit()

    assert Assignment.objects.get().feedback == "Number 3 made me laugh."


def test_two_devices_that_begin_at_once_get_one_hit(ada: Rater) -> None:
    devices = [Rater(ada.invitation) for _ in range(4)]
    for device in devices:
        device.look()
    went: list[str] = []

    def begin(device: Rater) -> None:
        try:
            went.append(device.answer("agree")["Location"])
        finally:
            connection.close()

    threads = [Thread(target=begin, args=(device,)) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(went) == 4
    assert len(set(went)) == 1
    assert Assignment.objects.count() == 1
    assert sum(HitPlaces.objects.values_list("taken", flat=True)) == 1


def test_after_handing_in_the_other_device_saves_nothing_more(ada: Rater) -> None:
    phone = Rater(ada.invitation)
    ada.agree()
    phone.agree().submit()

    refused = ada.save(0, "bad")

    assert (refused.status_code, refused.json()["code"]) == (409, "already-submitted")


def test_who_only_looked_and_lost_the_place_gets_another_hit(
    example_corpus: None, researcher: None, transactional_db: None
) -> None:
    offering = offered(hits=2)
    ada, bob = (Rater(one) for one in invited(offering, "Ada", "Bob"))
    ada.agree()
    HitPlaces.objects.filter(number=ada.assignment.hit.number).update(places=1)
    Assignment.objects.update(place="freed")
    HitPlaces.objects.filter(number=ada.assignment.hit.number).update(taken=1)  # somebody else has it by now

    ada.agree()

    numbers = Assignment.objects.filter(crowd_worker_id=ada.invitation.worker_id).values_list("hit__number", flat=True)
    assert sorted(numbers) == [0, 1]
    assert bob.agree().submit()["way"] == "redirect"


# --- Links -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["code", "key", "short", "long", "other"])
def test_links_can_not_be_guessed(offering: Offering, change: str) -> None:
    ada, bob = invited(offering, "Ada", "Bob")
    secret = urlsplit(personal_link(ada)).path.split("/")[-2]
    guesses = {
        "code": secret[:-1] + ("a" if secret[-1] != "a" else "b"),
        "key": ("a" if secret[0] != "a" else "b") + secret[1:],
        "short": secret[:10],
        "long": f"{secret}a",
        "other": bob.key + secret[10:],
    }

    response = Client().get(f"/join/invited/{guesses[change]}/")

    assert response.status_code == 404
    assert "There is no invitation at this address" in response.content.decode()


def test_who_guesses_by_the_hundred_has_to_wait(ada: Rater) -> None:
    stranger = Client(REMOTE_ADDR="203.0.113.77")

    codes = [stranger.get(f"/join/invited/{'a' * 36}/").status_code for _ in range(140)]

    assert codes[0] == 404
    assert codes[-1] == 429
    assert Client(REMOTE_ADDR="203.0.113.77").get(ada.address).status_code == 200


def test_the_rows_alone_open_nothing(ada: Rater) -> None:
    row = Invitation.objects.values().get()
    secret = ada.address.split("/")[-2]

    assert not any(secret in str(value) or secret[10:] in str(value) for value in row.values())


def test_a_link_stays_good_while_the_server_knows_its_earlier_key(ada: Rater, settings: Any) -> None:
    earlier = settings.SECRET_KEY
    ada.agree()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another" * 10, [earlier]
    assert ada.look().status_code == 200

    settings.SECRET_KEY_FALLBACKS = []
    assert ada.look().status_code == 404


def test_a_new_link_closes_the_earlier_one_and_keeps_the_work(ada: Rater) -> None:
    ada.agree().save(0, "good")
    earlier = ada.address
    give_new_link(ada.invitation, None, now())
    again = Rater(Invitation.objects.get())

    assert Client().get(earlier).status_code == 404
    assert again.address != earlier
    again.agree()
    assert Assignment.objects.count() == 1


def test_the_hidden_link_of_the_invited_lets_nobody_in(offering: Offering, ada: Rater) -> None:
    from hits.crowds import link_of_invited

    link = link_of_invited(offering, now())

    assert Client().get(f"/join/{link.key}/").status_code == 404


def test_a_form_from_another_raters_page_or_another_site_begins_nothing(offering: Offering) -> None:
    ada, bob = (Rater(one) for one in invited(offering, "Ada", "Bob"))
    found = re.search(r'name="signed" value="([^"]+)"', bob.look().content.decode())
    assert found
    elsewhere = Client(headers={"Sec-Fetch-Site": "cross-site"})

    texts = [
        ada.answer("agree", unescape(found[1])).content.decode(),
        elsewhere.post(bob.address, {"answer": "agree", "signed": unescape(found[1])}).content.decode(),
    ]

    assert all("This page has to be opened again" in text for text in texts)
    assert not Assignment.objects.exists()


# --- Revoking --------------------------------------------------------------------------------------------------------


def test_revoking_stops_who_is_inside_at_once_and_keeps_what_was_handed_in(offering: Offering, ada: Rater) -> None:
    ada.agree().submit()
    ada.agree().save(0, "good")
    signed = ada.went_to["Location"]

    assert revoke_invitation(ada.invitation, None, now()) is True
    assert revoke_invitation(ada.invitation, None, now()) is False

    refused = [
        ada.save(0, "bad"),
        ada.call("submit", {"dialogs": []}),
        ada.call("check", {"position": 0, "attempt": 1}),
    ]
    assert [(one.status_code, one.json()["code"]) for one in refused[:2]] == [(403, "revoked")] * 2
    assert refused[0].json()["heading"] == "Your invitation was withdrawn"
    assert "Your invitation was withdrawn" in ada.text()
    assert "Your invitation was withdrawn" in Client().get(signed).content.decode()
    collected(offering)
    assert Submission.objects.count() == 1
    assert sum(HitPlaces.objects.values_list("taken", flat=True)) == 1


def test_a_revoked_rater_begins_nothing_by_an_address_from_before(offering: Offering, ada: Rater) -> None:
    from hits.crowds import visit_for, work_address

    address = work_address(offering, visit_for(offering, ada.invitation.worker_id))
    revoke_invitation(ada.invitation, None, now())

    response = Client().get(address)

    assert response.status_code == 403
    assert "Your invitation was withdrawn" in response.content.decode()
    assert not Assignment.objects.exists()


def test_a_restored_rater_goes_on_where_they_were(ada: Rater) -> None:
    ada.agree().save(0, "good")
    revoke_invitation(ada.invitation, None, now())
    restore_invitation(ada.invitation, None, now())

    ada.agree()

    assert set(ada.work["dialogs"][0]["answer"]["areas"].values()) == {"good"}
    assert ada.submit()["way"] == "redirect"
    assert Assignment.objects.get().place == "filled"


def test_a_stopped_study_says_so_and_lets_who_has_begun_finish(offering: Offering) -> None:
    ada, bob = (Rater(one) for one in invited(offering, "Ada", "Bob"))
    ada.agree()
    stop_study(offering, open_crowd(offering), now)

    assert "takes nobody at the moment" in bob.text()
    assert "I agree" not in bob.text()
    assert ada.agree().submit()["way"] == "redirect"


# --- Blind -----------------------------------------------------------------------------------------------------------


def test_names_and_addresses_reach_no_bundle_no_api_and_no_log(
    offering: Offering, ada: Rater, tmp_path: Path, researcher: User
) -> None:
    bob = Rater(invited(offering, "Ada Lovelace, ada@example.org", "Bob Babbage, bob@example.org")[1])
    with structlog.testing.capture_logs() as lines:
        for rater in (ada, bob):
            rater.agree().submit()
        collected(offering)
    Study.objects.update(owner=researcher)
    export_bundle(offering, tmp_path / "bundle")
    token = make_token(researcher, "test", now())
    program = Client(headers={"Authorization": f"Token {token}"})
    api = [
        program.get(f"/api/studies/{offering.study.key}/{what}", {"market": "link.trial"})
        for what in ("ratings/", "progress/")
    ]

    files = b"".join(file.read_bytes() for file in (tmp_path / "bundle").rglob("*") if file.is_file())
    texts = [files, *(one.content for one in api), str(lines).encode()]
    secrets = [rater.address.split("/")[-2] for rater in (ada, bob)]
    names = [b"Lovelace", b"Babbage", b"ada@example", b"bob@example", *(one.encode() for one in secrets)]
    assert [one.status_code for one in api] == [200] * len(api)
    assert b"W-" in files
    assert not [name for name in names for text in texts if name in text]
    for rater in (ada, bob):  # ids are made up, but let nobody match bundles with rows
        assert not any(rater.invitation.worker_id.encode() in text for text in texts[:-1])


def test_methods_say_that_raters_were_invited_by_name(offering: Offering, ada: Rater) -> None:
    usual = "by an open link, which the researchers passed on"
    ada.agree().submit()
    collected(offering)
    only_invited = recruited_by(offering, usual)
    Visitor(OpenLink.objects.get(prefix="openlink")).agree().submit()
    collected(offering)

    assert only_invited == "by personal invitation"
    assert recruited_by(offering, usual) == f"by personal invitation and {usual}"
