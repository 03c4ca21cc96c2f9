"""Several offerings together where people meet them: the results page, the API, commands, and the bundle."""

import io
import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.analysing import compute_results, find_pool
from hits.crowds import CROWDS
from hits.exporting import check_bundle, export_bundle
from hits.exporting.hashing import write_hashes
from hits.models import Assignment, Event, Payment, Pool, Study, StudyResults, Submission, offering_for
from hits.models.pool import TOGETHER
from hits.screening import screen
from hits.tasks import compute_results_of_pool, make_bundle_of_pool
from tests.hits.offered_twice import HERE, MAIN, PEOPLE, PILOT, REHEARSED, offer_twice, rate_on
from tests.hits.test_researcher_api import Program
from tests.pages import html_of

TOGETHER_PEOPLE = "together.people"


@pytest.fixture
def twice_offered(demo_study: Study) -> Study:
    offer_twice(demo_study)
    return demo_study


@pytest.fixture
def pool(twice_offered: Study) -> Pool:
    return find_pool(twice_offered, PEOPLE)


def text_of(client: Client, address: str) -> str:
    response = client.get(address, follow=True)
    assert response.status_code == 200
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html_of(response)).split()))


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out, stderr=out)
    return out.getvalue()


def test_no_crowd_is_called_as_pools_are() -> None:
    assert TOGETHER not in CROWDS


def test_the_results_page_shows_offerings_together_and_each_beside_the_others(
    twice_offered: Study, pool: Pool, researcher_client: Client
) -> None:
    assert "Together: people" in text_of(researcher_client, f"/studies/demo/results/?market={MAIN}")
    compute_results_of_pool(pool.pk)

    page = text_of(researcher_client, f"/studies/demo/results/?market={TOGETHER_PEOPLE}")

    for words in (
        "Put together here: link.live, prolific.production.",
        "Not counted here is local (rehearsed): work of different origin is never put together.",
        "2 offerings are put together here (6 assignments from link.live and 24 assignments from prolific.production)",
        "What each offering brought",
        "share of good, link.live minus prolific.production".capitalize(),
        "can't be known",
    ):
        assert words in page, words
    assert "not for publication" not in page
    table = researcher_client.get(f"/studies/demo/results/leaderboard.csv?market={TOGETHER_PEOPLE}").content.decode()
    lines = table.splitlines()[1:]
    assert lines
    assert all("Offerings put together, which is exploratory: 6 assignments from link.live" in line for line in lines)
    assert Event.objects.filter(text__contains=TOGETHER_PEOPLE).count() == 0  # complete results are no look
    assert StudyResults.objects.get(pool=pool).offering is None


def test_pages_of_workers_and_money_know_no_pool(pool: Pool, researcher_client: Client) -> None:
    posted = researcher_client.post("/studies/demo/stop/", {"market": TOGETHER_PEOPLE}, follow=True)

    assert posted.status_code in (200, 404)
    assert Event.objects.filter(text__contains="off the market").count() == 0
    assert "together" not in text_of(researcher_client, f"/studies/demo/ledger/?market={TOGETHER_PEOPLE}").lower()


def test_a_pool_of_one_offering_is_refused_in_one_line(twice_offered: Study, researcher_client: Client) -> None:
    page = text_of(researcher_client, "/studies/demo/results/?market=together.rehearsal")

    assert "demo has 1 offering whose work is all rehearsed: there is nothing to put together." in page
    with pytest.raises(CommandError, match="there is nothing to put together"):
        run("show_results", "demo", "--together", "simulation")
    with pytest.raises(CommandError, match="leave out --crowd and --environment"):
        run("show_results", "demo", "--together", "people", "--environment", "local")


def test_a_program_gets_the_results_of_a_pool(twice_offered: Study, pool: Pool, researcher: User) -> None:
    cache.clear()
    compute_results(pool, timezone.now)

    found = Program(researcher).get(f"studies/{twice_offered.key}/results/", market=TOGETHER_PEOPLE).json()

    assert (found["market"], found["offerings"], found["state"]) == (TOGETHER_PEOPLE, [PILOT, MAIN], "current")
    assert found["origin"]["people"] == 30
    assert [one["offering"] for one in found["results"]["offerings"]] == [PILOT, MAIN]
    assert "exploratory" in found["answer"]
    refused = Program(researcher).get(f"studies/{twice_offered.key}/results/", market="together.rehearsal")
    assert (refused.status_code, "nothing to put together" in refused.json()["error"]) == (400, True)
    for other in ("progress", "ratings"):
        assert (
            Program(researcher).get(f"studies/{twice_offered.key}/{other}/", market=TOGETHER_PEOPLE).status_code == 400
        )


def test_stored_results_of_a_pool_are_stale_once_an_offering_brings_more(
    twice_offered: Study, pool: Pool, researcher: User
) -> None:
    cache.clear()
    compute_results(pool, timezone.now)
    rate_on(twice_offered, "link.trial", workers=1, hits=1, origin=PEOPLE)

    found = Program(researcher).get(f"studies/{twice_offered.key}/results/", market=TOGETHER_PEOPLE).json()

    assert found["state"] == "being computed"


def test_show_results_puts_offerings_together(twice_offered: Study) -> None:
    shown = run("show_results", "demo", "--together", "people")

    assert "Not counted here is local (rehearsed)" in shown
    assert "link.live minus prolific.production, exploratory" in shown
    told = run("show_results", "demo", "--together", "people", "--json")
    assert len(json.loads(told[told.index("{") : told.rindex("}") + 1])["offerings"]) == 2


def pay(study: Study, marketplace: str, cents: int) -> None:
    """So much was paid for each assignment there."""
    at = timezone.now()
    for submission in Submission.objects.filter(assignment__offering=offering_for(study, marketplace)):
        Payment.objects.create(
            submission=submission,
            kind=Payment.Kind.REWARD,
            cents=cents,
            fee_cents=0,
            intended_at=at,
            sending_at=at,
            paid_at=at,
        )


def test_a_bundle_of_a_pool_holds_together_and_says_who_came_from_where(
    twice_offered: Study, pool: Pool, tmp_path: Path
) -> None:
    Assignment.objects.update(
        consented_at=timezone.now(), consent_version=twice_offered.parsed_design.task.consent_version
    )
    pay(twice_offered, PILOT, 100)
    pay(twice_offered, MAIN, 70)
    for name in (PILOT, MAIN):
        screen(offering_for(twice_offered, name), timezone.now())

    run("export_study", "demo", "--together", "people", "--out", str(tmp_path / "bundle"))

    folder = tmp_path / "bundle"
    assert check_bundle(folder) == []
    assert check_bundle(folder, "ratings.parquet") == []
    texts = {path.name: path.read_text() for path in folder.glob("*.md")}
    methods, facts = texts["methods.md"], json.loads((folder / "facts.json").read_text())
    for words in (
        "6 assignments from link.live and 24 assignments from prolific.production",
        "The frozen design does not plan that",
        "In the offering link.live, 2 of 6 tasks were published.",
        "same person",
        "In total, participants received $16.80",
        "$6.00 was due in all (6 rewards)",
        "are not added up",
        "are exploratory",
    ):
        assert words in methods, words
    assert "$22.80" not in "".join(texts.values())
    assert "### link.live" in texts["participants.md"]
    assert [one["marketplace"] for one in facts["parts"]] == [PILOT, MAIN]
    assert (facts["workers"], facts["submissions"]) == (7, 30)
    header, first, *_ = (folder / "ratings.csv").read_text().splitlines()
    assert "offering" in header
    assert ".link" in first
    assert (folder / "tables" / "offerings.tex").exists()
    assert "not for publication" not in "".join(texts.values())


def test_a_bundle_of_a_pool_that_is_changed_is_found_out(pool: Pool, tmp_path: Path) -> None:
    Assignment.objects.update(consented_at=timezone.now(), consent_version="-")
    folder = export_bundle(pool, tmp_path / "bundle").folder
    moved = tmp_path / "moved"
    shutil.copytree(folder, moved)
    for name in ("ratings.csv", "ratings.jsonl"):
        text = (moved / name).read_text()
        (moved / name).write_text(text.replace("link.live", "prolific.production", 50))
    write_hashes(moved)

    assert any("results.json" in one for one in check_bundle(moved))


def test_a_bundle_of_rehearsed_offerings_is_marked_everywhere(twice_offered: Study, tmp_path: Path) -> None:
    rate_on(twice_offered, "prolific.local", workers=2, hits=2, origin=REHEARSED)

    folder = export_bundle(find_pool(twice_offered, REHEARSED), tmp_path / "bundle").folder

    assert check_bundle(folder) == []
    methods = (folder / "methods.md").read_text()
    assert methods.count("Rehearsed: not for publication") >= 1
    assert methods.count("In a rehearsal on ") == 2


def test_offerings_that_were_screened_differently_have_no_bundle_together(pool: Pool, tmp_path: Path) -> None:
    screen(offering_for(pool.study, PILOT), timezone.now())

    with pytest.raises(EvalPlatformError, match="were screened by different rules"):
        export_bundle(pool, tmp_path / "bundle")


def test_the_page_offers_the_bundle_of_a_pool(pool: Pool, researcher_client: Client) -> None:
    researcher_client.post("/studies/demo/results/bundle/", {"market": TOGETHER_PEOPLE})
    make_bundle_of_pool(pool.pk)

    response = researcher_client.get(f"/studies/demo/results/bundle.zip?market={TOGETHER_PEOPLE}")

    assert response.status_code == 200
    assert "demo-together.people.zip" in response.headers["Content-Disposition"]


def test_what_is_seen_of_an_offering_is_a_look_at_the_pool_too(twice_offered: Study, pool: Pool) -> None:
    from hits.analysing.study_progress import count_looks

    at = timezone.now()
    for name in (HERE, PILOT):
        Event.objects.create(
            study=twice_offered, at=at, text=f"looked at interim results on the {name} market: (ratings x)"
        )
    assert count_looks(pool) == 1
