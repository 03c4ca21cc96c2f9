"""One study on three crowds at once, by commands, pages and the API: what is each offering's, and what is shared."""

import csv
import io
import json
import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from hits.analysing import find_pool, offerings_of
from hits.budgeting import budget_of, set_cap
from hits.budgeting.budget import OverBudget
from hits.crowds import Visit, open_crowd
from hits.crowds.link.open_links import links_of
from hits.designing import create_study
from hits.exporting import check_bundle
from hits.models import Offering, Payment, Publication, Study, Submission, offering_for
from hits.publishing import declare_raters, last_offering, plan_publishing, publish_hits
from hits.serving import WorkRefused
from hits.serving.frozen import frozen_study
from hits.serving.opening_assignments import open_free_assignment
from hits.tasks import stop_hits_of_offering
from localprolific.behaviour import set_behaviour
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.test_researcher_api import Program
from tests.pages import html_of

LINK, PROLIFIC, HERE = "link.trial", "prolific.local", "local"
EACH = 150 + 10  # reward and bonus; no fee by a link
ANYWHERE = {"name": "link", "countries": [], "min_approved": 0, "min_approval_percent": 0, "max_hits_per_worker": 6}
DOLLARS = {"reward": "1.50", "bonus": "0.10", "expected_minutes": 10}


@pytest.fixture
def study(example_corpus: None, researcher: User, transactional_db: None) -> Study:
    return _make(researcher)


def _make(researcher: User, **pay: str) -> Study:
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=0, bonus_payment_seconds=0)
    made = create_study({**DEMO, "crowd": ANYWHERE, "pay": {**DOLLARS, **pay}})
    made.owner = researcher
    made.save()
    snapshots.build(made)
    made.refresh_from_db()
    return made


@pytest.fixture
def offered(study: Study) -> Study:
    """Two HITs by links, two on Prolific, two on the marketplace here."""
    run("publish_hits", "demo", "--crowd", "link", "--hits", "2")
    run("publish_hits", "demo", "--crowd", "prolific", "--hits", "2")
    run("publish_hits", "demo", "--crowd", "mturk", "--hits", "2")
    return study


@pytest.fixture
def worked(offered: Study) -> Study:
    for crowd in ("link", "prolific", "mturk"):
        run("simulate_crowd", "demo", "--crowd", crowd, "--workers", "12")
    run("sync_hits", "demo")
    return offered


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out, stderr=out)
    return out.getvalue()


def text_of(client: Client, address: str) -> str:
    response = client.get(address, follow=True)
    assert response.status_code == 200, address
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html_of(response)).split()))


def counts(study: Study) -> dict[str, int]:
    found = (offering_for(study, name) for name in (LINK, PROLIFIC, HERE))
    return {one.marketplace: Submission.objects.filter(assignment__offering=one).count() for one in found}


def test_a_sync_visits_every_offering_and_one_that_is_named_only_that(offered: Study) -> None:
    for crowd in ("link", "prolific", "mturk"):
        run("simulate_crowd", "demo", "--crowd", crowd, "--workers", "12")
    assert counts(offered) == {LINK: 0, PROLIFIC: 0, HERE: 0}

    alone = run("sync_hits", "demo", "--crowd", "prolific")
    first = counts(offered)
    everywhere = run("sync_hits", "demo")

    assert (first[LINK], first[PROLIFIC] > 0, first[HERE]) == (0, True, 0)
    assert LINK not in alone
    assert all(count > 0 for count in counts(offered).values())
    assert [line for line in everywhere.splitlines() if line.endswith(":")] == [f"{LINK}:", f"{PROLIFIC}:", f"{HERE}:"]
    assert run("sync_hits", "demo").count("0 submissions collected") == 3


def test_money_of_each_offering_is_its_own(worked: Study, researcher_client: Client, researcher: User) -> None:
    cache.clear()
    for name in (LINK, PROLIFIC, HERE):
        offering = offering_for(worked, name)
        paid = Payment.objects.filter(submission__assignment__offering=offering)
        rewards = paid.filter(kind=Payment.Kind.REWARD)
        done = Submission.objects.filter(assignment__offering=offering).count()
        progress = Program(researcher).get(f"studies/{worked.key}/progress/", market=name).json()
        ledger = b"".join(researcher_client.get(f"/studies/demo/ledger.csv?market={name}")).decode()
        lines = list(csv.DictReader(io.StringIO(ledger)))

        assert rewards.count() == done == progress["submitted"]
        assert progress["spent_cents"] + progress["owed_cents"] == paid.cents()
        assert sum(line["kind"] == "reward" for line in lines) == done
        assert {line["currency"] for line in lines} == {"USD"}
        for page in ("monitor/", "", "workers/", "assignments/", "results/"):
            assert text_of(researcher_client, f"/studies/demo/{page}?market={name}")


def test_pages_and_programs_begin_with_what_was_published_last_by_a_command(offered: Study) -> None:
    assert last_offering(offered, [HERE, LINK, PROLIFIC]).marketplace == HERE
    run("publish_hits", "demo", "--crowd", "link", "--hits", "1")
    assert last_offering(offered, [HERE, LINK, PROLIFIC]).marketplace == LINK


def test_commands_that_read_say_which_offering_they_are_about(worked: Study) -> None:
    shown = run("show_results", "demo")

    assert f"This is about {HERE}; the study was also offered on {LINK}, {PROLIFIC}." in shown


def test_three_simulated_offerings_have_one_bundle(worked: Study, tmp_path: Path) -> None:
    assert [one.marketplace for one in offerings_of(find_pool(worked, "simulation"))] == [LINK, PROLIFIC, HERE]

    run("export_study", "demo", "--together", "simulation", "--out", str(tmp_path / "bundle"))

    assert check_bundle(tmp_path / "bundle") == []
    facts = json.loads((tmp_path / "bundle" / "facts.json").read_text())
    assert [one["submissions"] for one in facts["parts"]] == list(counts(worked).values())
    assert "Simulated: not for publication" in (tmp_path / "bundle" / "methods.md").read_text()


def test_a_worker_of_the_pilot_gets_none_of_its_dialogs_later(offered: Study) -> None:
    """The pilot is the first two HITs of an offering; later the rest is published there."""

    def come(visit: str) -> int:
        ids = Visit("link", "trial", visit, "anna")
        return open_free_assignment(frozen_study(offered.key), ids, now()).hit.block

    pilot = [come("1"), come("2")]
    with pytest.raises(WorkRefused):
        come("3")
    run("publish_hits", "demo", "--crowd", "link")
    later = [come(visit) for visit in "3456"]

    assert len({*pilot, *later}) == 6


def test_a_top_up_on_the_monitor_pays_the_workers_of_one_offering(worked: Study, researcher_client: Client) -> None:
    for name in (LINK, PROLIFIC, HERE):
        page = text_of(researcher_client, f"/studies/demo/monitor/?market={name}&hourly=60.00")
        found = re.search(r"submissions?: \$([\d,.]+) (?:with fees|in all)", page)
        assert found, page
        cents = round(float(found[1].replace(",", "")) * 100)
        fields = {"market": name, "hourly": "60.00", "total_cents": str(cents)}
        before = _top_ups(worked)
        researcher_client.post("/studies/demo/top-up/", fields)
        changed = {market for market, count in _top_ups(worked).items() if count != before[market]}
        assert changed == {name}
    run("sync_hits", "demo")
    states = {name: _top_up_ways(worked, name) for name in (LINK, PROLIFIC, HERE)}
    assert states[LINK] == {"elsewhere"}
    assert states[HERE] == {"our call"}


def _top_ups(study: Study) -> dict[str, int]:
    rows = Payment.objects.filter(kind=Payment.Kind.TOP_UP)
    found = (offering_for(study, name) for name in (LINK, PROLIFIC, HERE))
    return {one.marketplace: rows.filter(submission__assignment__offering=one).count() for one in found}


def _top_up_ways(study: Study, name: str) -> set[str]:
    rows = Payment.objects.filter(kind=Payment.Kind.TOP_UP, submission__assignment__offering=offering_for(study, name))
    return set(rows.values_list("paid_by", flat=True))


def test_stopping_one_offering_leaves_the_others_on_offer(offered: Study) -> None:
    stop_hits_of_offering(offering_for(offered, PROLIFIC).pk)

    open_now = Publication.objects.filter(offering__study=offered).open().values_list("offering__crowd", flat=True)
    assert set(open_now) == {"link", "mturk"}


# --- The budget ------------------------------------------------------------------------------------------------------


@pytest.fixture
def limited(example_corpus: None, researcher: User, transactional_db: None, settings: Settings) -> Study:
    """A budget for three HITs of four assignments by links, on a server where a class may rate for real."""
    settings.LOCAL_MARKET = settings.MUST_WORKERS_SIGN_IN = True
    settings.PUBLIC_URL = "https://eval.example.org"
    made = _make(researcher, budget=f"{3.5 * 4 * EACH / 100:.2f}")
    declare_raters(offering_for(made, HERE), None, now())
    return made


def publish_there(offering: Offering, hits: int) -> None:
    publish_hits(plan_publishing(offering, hits), open_crowd(offering), "https://eval.example.org/work", now)


def test_the_designs_budget_is_one_for_all_offerings_with_real_raters(
    limited: Study, researcher_client: Client
) -> None:
    here, there = offering_for(limited, HERE), offering_for(limited, "link.live")
    publish_there(there, 2)
    spent_there = budget_of(there).committed_cents

    found = budget_of(here)

    assert (found.elsewhere_cents, found.cap_cents) == (spent_there, 7 * 2 * EACH - spent_there)
    with pytest.raises(CommandError, match=r"of it in its other offerings\), above the study's budget of \$22.40"):
        run("publish_hits", "demo", "--crowd", "mturk", "--hits", "2", "--dry-run")
    words = text_of(researcher_client, f"/studies/demo/monitor/?market={HERE}")
    assert "the budget of $22.40 in the study's design, $12.80 of which are for other offerings" in words


def test_a_rehearsal_takes_nothing_from_the_budget(limited: Study) -> None:
    trial, live = offering_for(limited, "link.trial"), offering_for(limited, "link.live")
    publish_there(trial, 3)
    publish_there(live, 3)

    assert budget_of(live).elsewhere_cents == budget_of(trial).elsewhere_cents == 0
    with pytest.raises(OverBudget, match="above the study's budget"):
        publish_there(trial, 1)


def test_two_plans_that_fit_alone_never_exceed_the_budget_together(limited: Study) -> None:
    here, there = offering_for(limited, HERE), offering_for(limited, "link.live")
    plans = [plan_publishing(one, 2) for one in (here, there)]  # both are made before either is carried out
    publish_hits(plans[1], open_crowd(there), "https://eval.example.org/work", now)

    with pytest.raises(OverBudget, match="of it in its other offerings"):
        publish_hits(plans[0], open_crowd(here), "https://eval.example.org/work", now)

    assert not Publication.objects.filter(offering=here).exists()


def test_a_typed_budget_is_the_offerings_own(study: Study) -> None:
    set_cap(offering_for(study, LINK), 100, None, now())

    assert budget_of(offering_for(study, LINK)).cap_cents == 100
    assert budget_of(offering_for(study, "link.live")).cap_cents is None


def test_links_are_made_for_the_offering_by_links_alone(offered: Study) -> None:
    assert len(links_of(offering_for(offered, LINK))) == 1
    assert not links_of(offering_for(offered, PROLIFIC))
