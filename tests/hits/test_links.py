"""People come by an open link: the page before the work, agreeing and leaving, ids, coming back, and the market."""

import io
import json
import re
from html import unescape
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.management import call_command
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from hits.batching import build_hits
from hits.crowds import open_crowd
from hits.crowds.link.open_links import LinkSettings, close_link, make_link
from hits.designing import create_study, read_study_file
from hits.models import (
    Assignment,
    Departure,
    Entrant,
    HitPlaces,
    Offering,
    OpenLink,
    Payment,
    Submission,
    offering_for,
)
from hits.publishing import stop_study
from hits.syncing import sync
from tests import snapshots
from tests.conftest import DEMO, ROOT
from tests.hits.crowd import now
from tests.hits.working import page_data

FOR_LINKS = {"name": "link", "countries": [], "min_approved": 0, "min_approval_percent": 0, "max_hits_per_worker": 2}
SONA = LinkSettings("SONA", "id", "redirect", "https://lab.sona-systems.com/credit.aspx?token=T&survey_code={worker}")
PANEL = LinkSettings(
    "Panel",
    "pid, visit",
    "redirect",
    "https://panel.example.org/back?pid={worker}&visit={session}&cc={code}",
    {"finished": "DONE1", "no consent": "NO1", "study full": "FULL1", "screened out": "OUT1"},
)


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out, stderr=out)
    return out.getvalue()


def offered(**design: Any) -> Offering:
    study = create_study({**DEMO, "crowd": FOR_LINKS, **design})
    snapshots.build(study)
    study.refresh_from_db()
    run("publish_hits", "demo", "--crowd", "link", "--hits", "2")
    return offering_for(study, "link.trial")


@pytest.fixture
def offering(example_corpus: None, researcher: None, transactional_db: None) -> Offering:
    return offered()


@pytest.fixture
def link(offering: Offering) -> OpenLink:
    return OpenLink.objects.get(offering=offering)


class Visitor:
    """A browser of its own, which keeps cookies and does what the link's page offers."""

    def __init__(self, link: OpenLink, **parameters: str) -> None:
        self.link, self.parameters = link, parameters
        self.client = Client()
        self.address = f"/join/{link.key}/"
        self.work: dict[str, Any] = {}

    def look(self) -> Any:
        return self.client.get(self.address, self.parameters)

    def text(self) -> str:
        return " ".join(unescape(self.look().content.decode()).split())

    def answer(self, answer: str, signed: str = "") -> Any:
        if not signed:
            found = re.search(r'name="signed" value="([^"]+)"', self.look().content.decode())
            assert found, self.text()
            signed = unescape(found[1])
        return self.client.post(self.address, {"answer": answer, "signed": signed})

    def agree(self) -> Self:
        self.went_to = self.answer("agree")
        assert self.went_to.status_code == 303, self.went_to.content.decode()
        return self.open(self.went_to["Location"])

    def open(self, address: str) -> Self:
        response = self.client.get(address)
        assert response.status_code == 200, response.content.decode()
        self.work = page_data(response.content.decode())
        return self

    def call(self, name: str, body: Any) -> Any:
        token = f"Assignment {self.work['token']}"
        body = json.dumps(body)
        return self.client.post(f"/work/api/{name}/", body, "application/json", headers={"Authorization": token})

    def submit(self) -> dict[str, Any]:
        dialogs = [
            {
                "position": position,
                "revision": dialog["answer"]["revision"],
                "areas": {str(place): "good" for place in range(len(dialog["cards"]))},
            }
            for position, dialog in enumerate(self.work["dialogs"])
        ]
        answer = self.call("submit", {"dialogs": dialogs})
        assert answer.status_code == 200, answer.content.decode()
        told: dict[str, Any] = answer.json()
        return told

    @property
    def assignment(self) -> Assignment:
        return Assignment.objects.filter(offering=self.link.offering).latest("pk")


def collected(offering: Offering) -> Any:
    return sync(offering, open_crowd(offering), now)


# --- The page --------------------------------------------------------------------------------------------------------


def test_publishing_makes_one_link_and_prints_it(
    example_corpus: None, researcher: None, transactional_db: None
) -> None:
    study = create_study({**DEMO, "crowd": FOR_LINKS})
    build_hits(study)

    printed = [run("publish_hits", "demo", "--crowd", "link", *more) for more in (["--hits", "1"], [])]

    link = OpenLink.objects.get()
    assert all(f"http://127.0.0.1:8000/join/{link.key}/" in one for one in printed)


def test_the_page_tells_all_and_takes_no_place(link: OpenLink) -> None:
    text = Visitor(link).text()

    design = link.offering.study.parsed_design
    assert design.task.title in text
    assert "about 15 minutes" in text
    assert "none: this is a rehearsal, and nothing is paid" in text
    assert "$" not in text
    assert "I agree and begin" in text
    assert "needs JavaScript" in text
    assert not Assignment.objects.exists()
    assert not Entrant.objects.exists()


def test_a_finished_study_says_to_a_stranger_that_it_is_complete(link: OpenLink) -> None:
    HitPlaces.objects.update(taken=F("places"))

    text = Visitor(link).text()

    assert "This study is complete" in text
    assert "Others are working" not in text
    assert "What you have submitted" not in text


def test_looking_sets_no_cookie_and_may_not_be_indexed(link: OpenLink) -> None:
    response = Visitor(link).look()

    assert not response.cookies
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


def test_an_unknown_link_is_not_found(link: OpenLink) -> None:
    assert Client().get("/join/nothing/").status_code == 404


# --- Agreeing --------------------------------------------------------------------------------------------------------


def test_agreeing_is_stored_at_once_with_the_texts_version_and_leads_past_the_consent_page(link: OpenLink) -> None:
    visitor = Visitor(link).agree()

    stored = visitor.assignment
    assert stored.consent_version == link.offering.study.parsed_design.task.consent_version
    assert stored.consented_at is not None
    assert stored.confirmed_at is not None
    assert (visitor.work["mode"], visitor.work["has_agreed"], visitor.work["step"]) == ("work", True, "instructions")


def test_a_made_up_id_is_kept_in_a_cookie_that_only_this_page_gets(link: OpenLink) -> None:
    visitor = Visitor(link).agree()

    (cookie,) = visitor.went_to.cookies.values()
    assert cookie["httponly"]
    assert (cookie["samesite"], cookie["path"]) == ("Lax", f"/join/{link.key}/")
    assert visitor.assignment.crowd_worker_id == f"openlink_{cookie.value}"
    assert Entrant.objects.get().id_there == ""


def test_the_cookie_is_secure_over_https(link: OpenLink) -> None:
    visitor = Visitor(link)
    visitor.client = Client(headers={"X-Forwarded-Proto": "https"})
    page = visitor.client.get(visitor.address, secure=True).content.decode()
    signed = unescape(re.search(r'name="signed" value="([^"]+)"', page)[1])  # type: ignore[index]

    answer = visitor.client.post(visitor.address, {"answer": "agree", "signed": signed}, secure=True)

    (cookie,) = answer.cookies.values()
    assert cookie["secure"]


def test_coming_back_goes_on_with_the_same_assignment_and_asks_for_no_consent(link: OpenLink) -> None:
    visitor = Visitor(link).agree()
    visitor.call("save", {"dialogs": [{"position": 0, "revision": 0, "areas": {"0": "good"}}]})
    text = visitor.text()

    visitor.agree()

    assert "What you have answered is saved" in text
    assert "I agree" not in text
    assert Assignment.objects.count() == 1
    assert visitor.work["dialogs"][0]["answer"]["areas"] == {"0": "good"}


def test_two_tabs_of_one_browser_are_one_person(link: OpenLink) -> None:
    visitor = Visitor(link)
    tabs = [re.search(r'name="signed" value="([^"]+)"', visitor.look().content.decode())[1] for _ in range(2)]  # type: ignore[index]

    answers = [visitor.answer("agree", unescape(signed)) for signed in tabs]

    assert [one.status_code for one in answers] == [303, 303]
    assert Assignment.objects.count() == 1


def test_a_lease_that_ran_out_is_held_again_by_coming_back(link: OpenLink) -> None:
    visitor = Visitor(link).agree()
    Assignment.objects.update(held_at="2026-01-01T00:00:00Z")

    assert visitor.agree().work["mode"] == "work"
    assert Assignment.objects.count() == 1
    visitor.submit()


# --- Leaving ---------------------------------------------------------------------------------------------------------


def test_not_agreeing_leaves_a_count_and_nothing_about_the_person(offering: Offering) -> None:
    panel = make_link(offering, PANEL, None, now())

    left = Visitor(panel, pid="p1", visit="v1").answer("leave")

    departure = Departure.objects.get()
    assert left["Location"] == "https://panel.example.org/back?pid=p1&visit=v1&cc=NO1"
    assert "form-action 'self' https://panel.example.org;" in left["Content-Security-Policy"]
    assert (departure.outcome, departure.left_on) == ("no consent", now().date())
    assert departure.consent_version == offering.study.parsed_design.task.consent_version
    assert not Assignment.objects.exists()
    assert not Entrant.objects.exists()


def test_where_nobody_wants_to_hear_of_it_a_page_says_goodbye(link: OpenLink) -> None:
    left = Visitor(link).answer("leave")

    assert left.status_code == 200
    assert "Nothing about you was kept" in left.content.decode()


def test_finishing_leads_back_with_the_code_id_and_session(offering: Offering) -> None:
    panel = make_link(offering, PANEL, None, now())
    visitor = Visitor(panel, pid="p1", visit="v1").agree()

    told = visitor.submit()

    assert told["way"] == "redirect"
    assert told["action"] == "https://panel.example.org/back?pid=p1&visit=v1&cc=DONE1"


def test_a_full_study_says_so_and_leads_back_with_its_code(offering: Offering) -> None:
    panel = make_link(offering, PANEL, None, now())
    waiting = Visitor(panel, pid="late", visit="v9")
    signed = unescape(re.search(r'name="signed" value="([^"]+)"', waiting.look().content.decode())[1])  # type: ignore[index]
    for number in range(8):
        Visitor(panel, pid=f"p{number}").agree()

    pages = [waiting.text(), " ".join(unescape(waiting.answer("agree", signed).content.decode()).split())]

    for page in pages:
        assert "There is no free task for you at the moment" in page
        assert 'href="https://panel.example.org/back?pid=late&visit=v9&cc=FULL1"' in page
    assert Departure.objects.get().outcome == "study full"  # the look alone was none
    assert Assignment.objects.count() == 8


def test_an_address_without_a_code_is_for_those_who_finish(offering: Offering) -> None:
    sona = make_link(offering, SONA, None, now())

    left = Visitor(sona, id="4711").answer("leave")
    told = Visitor(sona, id="4712").agree().submit()

    assert left.status_code == 200
    assert told["action"] == "https://lab.sona-systems.com/credit.aspx?token=T&survey_code=4712"


def test_a_finished_worker_is_offered_the_next_task_up_to_the_limit(link: OpenLink) -> None:
    visitor = Visitor(link).agree()
    first = visitor.submit()
    text = visitor.text()
    second = visitor.agree().submit()

    assert first["more_url"] == f"/join/{link.key}/"
    assert "There is another one for you" in text
    assert Assignment.objects.values("hit__block").distinct().count() == 2
    assert second["more_url"] == ""
    assert "You have done all that there is for you" in visitor.text()
    assert visitor.look().status_code == 200


# --- Ids -------------------------------------------------------------------------------------------------------------


def test_the_same_id_at_two_links_is_two_people(offering: Offering) -> None:
    links = [make_link(offering, LinkSettings(label, "id"), None, now()) for label in ("Class A", "Class B")]

    for one in links:
        Visitor(one, id="7").agree()

    assert set(Assignment.objects.values_list("crowd_worker_id", flat=True)) == {"classa_7", "classb_7"}


@pytest.mark.parametrize("there", ["ann@example.org", "Ann Lee", "x" * 60, "ann/../7", "é"])
def test_other_ids_than_plain_ones_are_kept_as_a_hash_alone(offering: Offering, there: str) -> None:
    link = make_link(offering, LinkSettings("List", "id"), None, now())

    Visitor(link, id=there).agree()
    Visitor(link, id=there).agree()

    (worker_id,) = Assignment.objects.values_list("crowd_worker_id", flat=True)
    assert re.fullmatch(r"list_x[0-9a-f]{24}", worker_id)
    assert Entrant.objects.get().id_there == ""


@pytest.mark.parametrize("there", ["", "%SURVEY_CODE%", "{{PID}}", "[ID]"])
def test_a_missing_id_or_a_placeholder_is_told_in_one_line(offering: Offering, there: str) -> None:
    sona = make_link(offering, SONA, None, now())

    text = Visitor(sona, id=there).text()

    assert "We can't tell who you are" in text
    assert ("lacks your id" if not there else "placeholder that nobody replaced") in text


def test_an_id_that_can_not_be_given_back_is_refused_where_it_must_be(offering: Offering) -> None:
    sona = make_link(offering, SONA, None, now())

    assert "An id can have only letters, digits" in Visitor(sona, id="ann@example.org").text()


def test_what_a_visitor_brings_only_fills_placeholders_quoted(offering: Offering) -> None:
    panel = make_link(offering, PANEL, None, now())

    told = Visitor(panel, pid="p1", visit="v1&next=https://evil.example").agree().submit()

    assert parse_qs(urlsplit(told["action"]).query) == {"pid": ["p1"], "cc": ["DONE1"]}
    assert urlsplit(told["action"]).hostname == "panel.example.org"


# --- Forgery ---------------------------------------------------------------------------------------------------------


def test_a_form_that_is_not_ours_or_of_another_link_joins_nobody(offering: Offering, link: OpenLink) -> None:
    other = make_link(offering, PANEL, None, now())
    signed = unescape(re.search(r'name="signed" value="([^"]+)"', Visitor(link).look().content.decode())[1])  # type: ignore[index]
    forger = Visitor(other, pid="p1")

    texts = [forger.answer("agree", form).content.decode() for form in ("made-up", f"{signed}x", signed)]

    assert all("This page has to be opened again" in text for text in texts)
    assert not Assignment.objects.exists()


def test_an_address_of_the_work_can_not_be_made_up_or_changed(link: OpenLink) -> None:
    address = Visitor(link).agree().went_to["Location"]
    study = f"/work/{link.offering.study.key}/"

    forged = [
        Client().get(f"{study}?joined=made-up"),
        Client().get(f"{address}x"),
        Client().get(f"{address[:-60]}{'A' * 60}"),
        Client().get(study),
    ]

    assert [one.status_code for one in forged] == [403, 403, 403, 403]
    assert Assignment.objects.count() == 1


def test_an_address_of_the_work_opens_no_other_study(link: OpenLink) -> None:
    visitor = Visitor(link).agree()
    copy = create_study({**DEMO, "name": "copy", "crowd": FOR_LINKS})
    build_hits(copy)
    run("publish_hits", "copy", "--crowd", "link")
    query = urlsplit(visitor.went_to["Location"]).query

    replayed = Client().get(f"/work/{copy.key}/?{query}")

    assert replayed.status_code == 403
    assert not Assignment.objects.filter(offering__study=copy).exists()


def test_the_same_address_opened_again_is_the_same_work(link: OpenLink) -> None:
    visitor = Visitor(link).agree()
    address = visitor.went_to["Location"]
    visitor.submit()

    again = Visitor(link).open(address)

    assert again.work["mode"] == "submitted"
    assert Assignment.objects.count() == 1


# --- Closing and stopping --------------------------------------------------------------------------------------------


def test_a_closed_link_takes_nobody_new_and_lets_others_finish(offering: Offering, link: OpenLink) -> None:
    begun = Visitor(link).agree()
    close_link(offering, link.key, None, now())

    assert "takes nobody at the moment" in Visitor(link).text()
    assert begun.agree().submit()["way"] == "code"


def test_a_stopped_study_takes_nobody_new(offering: Offering, link: OpenLink) -> None:
    stop_study(offering, open_crowd(offering), now)

    assert "takes nobody at the moment" in Visitor(link).text()


# --- The market ------------------------------------------------------------------------------------------------------


def test_what_was_submitted_is_collected_approved_and_due(offering: Offering, link: OpenLink) -> None:
    Visitor(link).agree().submit()
    Visitor(link).agree()

    first, second = collected(offering), collected(offering)

    submission = Submission.objects.get()
    assert (first.collected.new, second.collected.new) == (1, 0)
    assert (submission.status, submission.origin, submission.problem) == ("Approved", "rehearsal", "")
    assert submission.ratings.exists()
    assert set(Payment.objects.values_list("paid_by", flat=True)) == {"elsewhere"}
    assert first.paid.rewards == 0


def test_an_unpaid_study_owes_nothing_and_needs_no_decision(
    example_corpus: None, researcher: None, transactional_db: None
) -> None:
    offering = offered(pay={"reward": 0, "bonus": 0, "approval": "by hand", "minimum_hourly": 0})
    visitor = Visitor(OpenLink.objects.get())
    text = visitor.text()
    visitor.agree().submit()

    synced = collected(offering)

    assert "this study is unpaid" in text
    assert not Payment.objects.exists()
    assert Submission.objects.get().status == "Approved"
    assert synced.waiting.count == 0


def test_the_live_link_needs_a_public_address_and_its_work_is_by_people(
    example_corpus: None, researcher: None, transactional_db: None, settings: Settings
) -> None:
    study = create_study({**DEMO, "crowd": FOR_LINKS})
    build_hits(study)
    with pytest.raises(Exception, match="need a public HTTPS address of this server"):
        run("publish_hits", "demo", "--crowd", "link", "--environment", "live")

    settings.PUBLIC_URL = "https://eval.example.org"
    from hits.publishing import plan_publishing, publish_hits

    study.refresh_from_db()
    offering = offering_for(study, "link.live")
    publish_hits(plan_publishing(offering, 1), open_crowd(offering), "https://eval.example.org/work", now)
    Visitor(OpenLink.objects.get()).agree().submit()
    collected(offering)

    assert Submission.objects.get().origin == "people"


def test_a_simulated_crowd_works_by_the_link_and_is_never_taken_for_people(offering: Offering, link: OpenLink) -> None:
    told = run("simulate_crowd", "demo", "--crowd", "link", "--workers", "12")

    collected(offering)

    assert "8 assignments submitted" in told
    assert "No assignment is left." in told
    assert set(Submission.objects.values_list("origin", "problem")) == {("simulation", "")}
    assert set(Submission.objects.values_list("assignment__hit__number", flat=True)) == {0, 1}
    assert Assignment.objects.order_by("crowd_worker_id").distinct().count() == 8


def test_the_demos_study_by_link_is_unpaid_and_can_be_rated(
    example_corpus: None, researcher: None, transactional_db: None
) -> None:
    study = create_study(read_study_file(ROOT / "examples" / "demo_link.toml"))
    build_hits(study)
    run("publish_hits", "demo-link", "--crowd", "link")
    visitor = Visitor(OpenLink.objects.get())
    text = visitor.text()

    told = visitor.agree().submit()

    assert "this study is unpaid" in text
    assert "Who pays" not in text
    assert told["more_url"]


def test_no_text_of_an_unpaid_study_speaks_of_pay_but_to_say_that_there_is_none(
    example_corpus: None, researcher: None, transactional_db: None
) -> None:
    unpaid = offered(pay={"reward": 0, "bonus": 0, "approval": "by hand", "minimum_hourly": 0})
    visitor = Visitor(OpenLink.objects.get()).agree()
    page = visitor.client.get(visitor.went_to["Location"]).content.decode()
    visitor.submit()
    refused = [
        visitor.call("save", {"dialogs": [{"position": 0, "revision": 9, "areas": {"0": "good"}}]}).json()["message"],
        Client().get(f"/work/{unpaid.study.key}/").content.decode(),
        Client().get(f"/work/{unpaid.study.key}/?joined=made-up").content.decode(),
    ]
    HitPlaces.objects.update(taken=F("places"))
    refused.append(Visitor(visitor.link).text())

    assert "is saved, and counts once you submit" in page
    assert "This study is complete" in refused[-1]
    assert not [text for text in refused if re.search(r"\b(paid|pays?)\b", text)]


def test_the_links_page_weighs_little_and_loads_nothing_that_the_work_does_not(link: OpenLink) -> None:
    visitor = Visitor(link)
    before = visitor.look().content.decode()
    work = visitor.agree().client.get(visitor.went_to["Location"]).content.decode()

    loaded, needed = (set(re.findall(r'(?:src|href)="(/static/[^"]+)"', page)) for page in (before, work))

    assert loaded <= needed
    assert len(loaded) <= 3  # program, style and icon, which the browser then has when the work begins
    assert len(before.encode()) < 10_000
