"""Where work came from: people, a simulation or a rehearsal, and whether that can be forged, lost or overlooked."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from evalplatform.errors import EvalPlatformError
from hits.analysing import Origin, analyse_study, compute_results, describe_origin, make_pictures, origin_of_work
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.exporting import check_bundle, export_bundle
from hits.exporting.hashing import write_hashes
from hits.models import Assignment, Event, Offering, Study, Submission, offering_for
from hits.publishing import declare_raters
from hits.screening import screen, screening_warning, undo_screening
from localturk import ids
from localturk.models import WorkerAccount
from localturk.seeding import is_simulated_worker
from localturk.signing_in import new_account
from simulated_crowd.channels import InProcess
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import read_truth
from tests.hits.crowd import now, publish

SIMULATED = "Simulated: not for publication"
UNLUCKY_SEED = 132_161  # the first id that it draws would be one of the simulated workers'
PAGES = ["", "monitor/", "results/", "workers/", "assignments/", "ledger/", "results/dialogs/"]


@pytest.fixture
def offering(demo_study: Study) -> Offering:
    return offering_for(demo_study, "local")


@pytest.fixture
def worked(offering: Offering, market: MTurkMarket) -> Offering:
    """The demo study with a simulated crowd's work on two HITs."""
    publish(offering.study, market, 2)
    simulate(offering.study, Crowd(12, read_truth("demo"), seed=4), InProcess(), ends_at=now())
    collect(offering, market, now())
    return offering


@pytest.fixture
def class_server(settings: Settings) -> None:
    """A server on which people sign in to the marketplace as themselves."""
    settings.LOCAL_MARKET = settings.MUST_WORKERS_SIGN_IN = True


def rename_workers(name: str) -> None:
    """Let people have done what the simulated crowd did, as far as the marketplace knows."""
    for number, account in enumerate(WorkerAccount.objects.filter(worker_id__startswith="ASIM")):
        WorkerAccount.objects.filter(pk=account.pk).update(worker_id=f"{name}{number}")
        Assignment.objects.filter(crowd_worker_id=account.worker_id).update(crowd_worker_id=f"{name}{number}")


def test_a_simulated_crowds_work_is_known_as_simulated(worked: Offering) -> None:
    assert set(Submission.objects.values_list("origin", flat=True)) == {"simulation"}
    assert origin_of_work(worked) == Origin(simulation=8)
    assert analyse_study(worked).origin == Origin(simulation=8)


def test_what_people_do_on_the_marketplace_here_is_a_rehearsal(offering: Offering, market: MTurkMarket) -> None:
    publish(offering.study, market, 1)
    simulate(offering.study, Crowd(12, read_truth("demo"), seed=4), InProcess(), ends_at=now())
    rename_workers("A1PERSON")

    collect(offering, market, now())

    assert origin_of_work(offering) == Origin(rehearsal=4)


@pytest.mark.usefixtures("class_server")
def test_declared_raters_are_people_and_what_they_did_before_was_a_rehearsal(
    offering: Offering, market: MTurkMarket
) -> None:
    publish(offering.study, market, 2)
    simulate(offering.study, Crowd(12, read_truth("demo"), seed=4), InProcess(), hit_count=1, ends_at=now())
    declare_raters(offering, None, now())
    rename_workers("A1PERSON")
    collect(offering, market, now())
    assert origin_of_work(offering) == Origin(rehearsal=4)

    declared = offering.raters_since
    declare_raters(offering, None, now())

    assert offering.raters_since == declared
    assert Event.objects.filter(text__contains="are the study's raters").count() == 1


@pytest.mark.usefixtures("class_server")
def test_what_declared_raters_do_counts_as_peoples_even_if_collected_again(
    offering: Offering, market: MTurkMarket
) -> None:
    publish(offering.study, market, 1)
    simulate(offering.study, Crowd(12, read_truth("demo"), seed=4), InProcess(), ends_at=now())
    rename_workers("A1PERSON")
    Offering.objects.filter(pk=offering.pk).update(raters_since=now().replace(year=2020))

    collect(offering, market, now())
    collect(offering, market, now())

    assert origin_of_work(offering) == Origin(people=4)
    assert describe_origin(origin_of_work(offering)) == ""


def test_people_are_no_raters_where_anyone_may_be_any_worker(offering: Offering) -> None:
    with pytest.raises(EvalPlatformError, match="only where they sign in as themselves"):
        declare_raters(offering, None, now())
    with pytest.raises(EvalPlatformError, match="says itself who works there"):
        declare_raters(offering_for(offering.study, "sandbox"), None, now())

    declare_raters(offering_for(offering.study, "production"), None, now())  # they are anyway

    assert not Event.objects.filter(text__contains="raters").exists()


@pytest.mark.usefixtures("class_server")
def test_a_simulated_crowd_does_not_spoil_the_work_of_raters(offering: Offering, market: MTurkMarket) -> None:
    publish(offering.study, market, 1)
    declare_raters(offering, None, now())

    with pytest.raises(EvalPlatformError, match="would spoil their results"):
        simulate(offering.study, Crowd(3), InProcess())


@pytest.mark.usefixtures("class_server")
def test_nobody_can_work_in_the_name_of_a_simulated_worker(worked: Offering) -> None:
    with pytest.raises(CommandError, match="nobody can work in its name"):
        call_command("invite_worker", again="ASIM000001", stdout=StringIO())


@pytest.mark.django_db
def test_no_person_gets_an_id_of_the_simulated_ones() -> None:
    with ids.seeded_ids(UNLUCKY_SEED):
        assert ids.new_id(14).startswith("3SIM")

    with ids.seeded_ids(UNLUCKY_SEED):
        assert not is_simulated_worker(new_account("Ana", "CH").worker_id)


def test_every_figure_says_it_in_the_drawing_and_in_its_words(worked: Offering) -> None:
    screened = screen(worked, now())

    pictures = make_pictures(analyse_study(worked), screened.funnel)

    assert {"shares", "ranking", "agreement", "funnel"} <= {one.name for one in pictures}
    for picture in pictures:
        assert picture.description.startswith(f"{SIMULATED}. ")
        assert f">{SIMULATED}</text>" in picture.svg


def test_the_terminal_says_it_as_text_and_as_json(worked: Offering) -> None:
    text, raw = StringIO(), StringIO()
    call_command("show_results", "demo", stdout=text, stderr=StringIO())
    call_command("show_results", "demo", json=True, stdout=raw, stderr=StringIO())

    assert text.getvalue().startswith(f"{SIMULATED}. All 8 assignments are by a simulated crowd: no person rated")
    assert json.loads(raw.getvalue())["origin"] == {
        "people": 0,
        "simulation": 8,
        "rehearsal": 0,
        "warning": SIMULATED,
    }


def test_mixed_work_says_the_counts() -> None:
    assert describe_origin(Origin(people=20, simulation=100, rehearsal=1)) == (
        f"{SIMULATED}. Of 121 assignments, 100 are by a simulated crowd, 1 is from a rehearsal and 20 are by people "
        "who are the study's raters."
    )
    assert describe_origin(Origin(people=3, rehearsal=2)).startswith("Rehearsed: not for publication. Of 5 ")
    assert describe_origin(Origin(people=3)) == ""


@pytest.mark.once
def test_a_bundle_that_hides_its_origin_does_not_hold_together(worked: Offering, tmp_path: Path) -> None:
    folder = export_bundle(worked, tmp_path / "bundle").folder
    assert check_bundle(folder) == []

    for name in ("README.md", "methods.md", "bundle.json"):
        file = folder / name
        file.write_text(file.read_text().replace(SIMULATED, "").replace('"simulation": 8', '"simulation": 0'))
    write_hashes(folder)  # whoever forges texts makes new hashes, too

    found = "\n".join(check_bundle(folder))
    assert "bundle.json says that the work came from" in found
    assert "README.md does not say" in found
    assert "methods.md does not say" in found

    file = folder / "ratings.csv"
    file.write_text(file.read_text().replace('"simulation"', '"people"'))
    write_hashes(folder)
    found = "\n".join(check_bundle(folder))
    assert "datasheet.md says that the work is not from people" in found
    assert "results.json: origin.people is 0, the ratings give 8" in found


@pytest.mark.parametrize("page", PAGES)
def test_every_page_of_the_study_says_it(worked: Offering, researcher_client: Client, page: str) -> None:
    assert SIMULATED in researcher_client.get(f"/studies/demo/{page}").content.decode()


def test_results_warn_until_the_studys_own_screening_is_applied(worked: Offering, researcher_client: Client) -> None:
    def shown() -> str:
        compute_results(worked, now)
        return researcher_client.get("/studies/demo/results/").content.decode()

    missing = "The study&#x27;s own screening has not been applied: everything counts."
    assert missing in shown()
    told = StringIO()
    call_command("show_results", "demo", stdout=StringIO(), stderr=told)
    assert "has not been applied: everything counts" in told.getvalue()

    screen(worked, now(), rules=[])
    assert "has not been applied: other rules, chosen after the fact" in screening_warning(worked)
    screen(worked, now())
    assert screening_warning(worked) == ""
    assert "data-screening-warning" not in shown()

    undo_screening(worked, now())
    undo_screening(worked, now())
    assert "The study&#x27;s own screening was undone: everything counts." in shown()
