"""Researchers make, see and close links on a page; the ledger lists what is due; texts say nobody was paid here."""

import csv
import io
import re

import pytest
from django.test import Client

from hits.analysing import analyse_study
from hits.crowds.link.open_links import LinkSettings, make_link
from hits.exporting.bundle_facts import Sources
from hits.exporting.gathering_facts import gather_facts
from hits.exporting.methods import methods_paragraphs
from hits.models import Event, Offering, OpenLink, Submission
from tests.hits.crowd import now
from tests.hits.test_links import PANEL, Visitor, collected, offered, run

HERE = "market=link.trial"
OWN = {"market": "link.trial", "preset": "own", "label": "Poster", "way": "code"}
SONA_URL = "https://lab.sona-systems.com/webstudy_credit.aspx?experiment_id=1&credit_token=2&survey_code=XXXX"


@pytest.fixture
def offering(example_corpus: None, researcher_client: Client, transactional_db: None) -> Offering:
    return offered()


def text(client: Client, path: str, **data: str) -> str:
    response = client.post(path, data, follow=True) if data else client.get(path)
    return " ".join(response.content.decode().split())


@pytest.fixture
def page(offering: Offering, researcher_client: Client) -> Client:
    offering.study.__class__.objects.update(owner=researcher_client.session["_auth_user_id"])
    return researcher_client


def test_the_publishing_page_shows_the_link_to_pass_on(page: Client) -> None:
    shown = text(page, f"/studies/demo/?{HERE}")

    link = OpenLink.objects.get()
    assert f"http://127.0.0.1:8000/join/{link.key}/" in shown
    assert f'data-copies="link-{link.key}"' in shown


def test_a_link_is_made_with_five_fields(page: Client, offering: Offering) -> None:
    typed = {**OWN, "label": "Panel", "parameters": "pid, visit", "way": "redirect"}
    typed |= {
        "address": "https://panel.example.org/?p={worker}&s={session}&c={code}",
        "codes": "Finished: D1\nstudy full: F1",
    }

    shown = text(page, "/studies/demo/links/", **typed)

    link = OpenLink.objects.get(label="Panel")
    assert "The link “Panel” is made." in shown
    assert f"/join/{link.key}/?pid=ID&amp;visit=SESSION" in shown
    assert (link.worker_parameter, link.session_parameter, link.codes) == (
        "pid",
        "visit",
        {"finished": "D1", "study full": "F1"},
    )
    assert link.made_by is not None


def test_sona_needs_its_own_address_alone(page: Client) -> None:
    form = text(page, f"/studies/demo/links/?{HERE}&preset=sona")
    typed = {
        "market": "link.trial",
        "preset": "sona",
        "label": "SONA",
        "parameters": "id",
        "way": "redirect",
        "address": SONA_URL,
    }

    shown = text(page, "/studies/demo/links/", **typed)

    link = OpenLink.objects.get(label="SONA")
    assert 'value="SONA"' in form
    assert 'value="id"' in form
    assert link.address == SONA_URL.replace("XXXX", "{worker}")
    assert f"/join/{link.key}/?id=%SURVEY_CODE%" in shown


@pytest.mark.parametrize(
    ("typed", "field", "problem"),
    [
        ({"label": ""}, "link-label", "Name the link"),
        ({"label": "Open Link"}, "link-label", "has a name like this one"),
        ({"label": "Simulated"}, "link-label", "has a name like this one"),
        ({"parameters": "a b"}, "link-parameters", "Write the name of the parameter"),
        ({"way": "redirect"}, "link-address", "Write the address"),
        ({"way": "redirect", "address": "http://example.org"}, "link-address", "must begin with https://"),
        ({"way": "redirect", "address": "https://example.org/{worker}"}, "link-parameters", "no parameter brings"),
        ({"codes": "done"}, "link-codes", "is not of the form"),
        ({"codes": "done: X1"}, "link-codes", "is no outcome"),
        ({"codes": "finished: a b"}, "link-codes", "has other signs in it"),
    ],
)
def test_what_can_not_be_is_refused_beside_its_field_and_what_was_typed_stays(
    page: Client, typed: dict[str, str], field: str, problem: str
) -> None:
    response = page.post("/studies/demo/links/", {**OWN, **typed})

    shown = " ".join(response.content.decode().split())
    assert response.status_code == 422
    assert problem in shown
    assert f'aria-describedby="{field}-problem"' in shown or f'id="{field}-problem"' in shown
    assert OpenLink.objects.count() == 1


def test_a_link_is_closed_and_opened_again(page: Client) -> None:
    link = OpenLink.objects.get()

    closed = text(page, f"/studies/demo/links/{link.key}/change/", market="link.trial", do="close")
    opened = text(page, f"/studies/demo/links/{link.key}/change/", market="link.trial", do="reopen")

    assert "nobody new gets in" in closed
    assert "is open again" in opened
    assert Event.objects.filter(text="closed the link “Open link” (link.trial)").count() == 1


def test_strangers_make_no_links(page: Client, django_user_model: type) -> None:
    stranger = Client()
    stranger.force_login(django_user_model.objects.create_user("sam"))  # type: ignore[attr-defined]

    assert stranger.get(f"/studies/demo/links/?{HERE}").status_code == 404
    assert stranger.post("/studies/demo/links/", OWN).status_code == 404


# --- Money -----------------------------------------------------------------------------------------------------------


def test_the_ledger_lists_what_is_due_and_never_says_paid(page: Client, offering: Offering) -> None:
    panel = make_link(offering, PANEL, None, now())
    for there in ("p1", "p2"):
        Visitor(panel, pid=there, visit="v").agree().submit()
    Visitor(panel, pid="p1", visit="v").agree().submit()
    collected(offering)

    ledger = text(page, f"/studies/demo/ledger/?{HERE}")
    due = page.post("/studies/demo/due.csv", {"market": "link.trial"})
    rows = list(csv.DictReader(io.StringIO(due.getvalue().decode())))

    assert "This server pays nobody who came by a link" in ledger
    assert "due elsewhere</span>" in ledger
    assert ">paid</span>" not in ledger
    assert [(row["link"], row["id_there"], row["worker"], row["assignments"]) for row in rows] == [
        ("Panel", "p1", "panel_p1", "2"),
        ("Panel", "p2", "panel_p2", "1"),
    ]
    assert [int(row["reward_cents"]) for row in rows] == [80, 40]
    assert {row["due"] for row in rows} == {"rehearsal: nothing is due"}
    assert all(int(row["total_cents"]) == int(row["reward_cents"]) + int(row["bonus_cents"]) for row in rows)
    assert Event.objects.filter(text__contains="downloaded what is due elsewhere").exists()


def test_the_tab_of_links_is_on_the_study_and_hit_pages(page: Client) -> None:
    tab = f'href="/studies/demo/links/?{HERE}">Links</a>'

    assert tab in re.sub(r"\s+>", ">", text(page, f"/studies/demo/?{HERE}"))
    assert tab in re.sub(r"\s+>", ">", text(page, "/studies/demo/hits/1/"))


def test_publishing_before_serving_asks_no_server(page: Client, capsys: pytest.CaptureFixture[str]) -> None:
    run("publish_hits", "demo", "--crowd", "link", "--before-serving")

    assert "Mind:" not in capsys.readouterr().err


def test_the_monitor_of_a_link_never_says_spent(page: Client) -> None:
    monitor = text(page, f"/studies/demo/monitor/?{HERE}")

    assert "Rehearsed: due to nobody" in monitor
    assert "Spent" not in monitor


def test_methods_say_how_people_came_and_that_nobody_was_paid_here(offering: Offering) -> None:
    panel = make_link(offering, PANEL, None, now())
    Visitor(panel, pid="p1", visit="v").agree().submit()
    Visitor(panel, pid="p2", visit="v").answer("leave")
    collected(offering)
    Submission.objects.update(origin="people")
    results = analyse_study(offering)
    there = {"recruited": "by an open link, which we passed on", "is_hired_there": True}
    facts = gather_facts(offering, results).model_copy(update=there)

    said = methods_paragraphs(Sources(facts, offering.study.parsed_design, "0" * 64, results))["Raters"]

    assert "recruited by an open link" in said
    assert "located in" not in said
    assert "1 person read it and did not agree" in said
    assert "It was to be paid outside of the platform: $0.50 was due in all" in said
    assert "Whether and how it was paid: [to be filled in by the researchers]." in said
    assert "fees" not in said


def test_a_link_that_only_names_itself_needs_no_more(offering: Offering) -> None:
    make_link(offering, LinkSettings("Poster"), None, now())

    assert Visitor(OpenLink.objects.get(label="Poster")).agree().submit()["way"] == "code"
