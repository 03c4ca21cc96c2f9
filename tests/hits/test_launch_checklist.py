"""What a researcher is told to settle before people see a study, on its page and by the command."""

from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from hits.batching import build_hits
from hits.crowds.mturk.client import ENDPOINTS, MTurkMarket, boto_client
from hits.crowds.mturk.mturk_environments import END_OF_MTURK
from hits.crowds.mturk.wire import translated
from hits.designing import create_study
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Study, offering_for, split_marketplace_name
from hits.publishing import LaunchCheck, launch_checks, outside_checks
from hits.syncing import sync
from localturk.models import Account
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish


def found(study: Study) -> dict[str, LaunchCheck]:
    return {check.name: check for check in launch_checks(offering_for(study, "local"))}


def study_with(**changes: Mapping[str, Any]) -> Study:
    settings = {part: {**DEMO.get(part, {}), **values} for part, values in changes.items()}
    study = create_study({**DEMO, **settings, "name": "settled"})
    build_hits(study)
    study.refresh_from_db()
    return study


def test_a_study_as_it_comes_has_everything_to_settle(bare_study: Study) -> None:
    checks = found(bare_study)

    assert [name for name, check in checks.items() if not check.is_settled] == ["Pay", "Consent", "Contact", "Pilot"]
    assert "below your minimum of $7.25" in checks["Pay"].words
    assert "comes with" in checks["Consent"].words
    assert "task.requester" in checks["Contact"].words
    assert "Nobody has tried it yet" in checks["Pilot"].words


def test_what_is_settled_is_said_to_be(example_corpus: None) -> None:
    study = study_with(
        pay={"reward": "2.00"},
        task={"requester": "The Lab", "contact": "Write to lab@example.org.", "consent": "We store your answers."},
    )

    assert [name for name, check in found(study).items() if not check.is_settled] == ["Pilot"]


def test_no_screening_is_something_to_look_at(example_corpus: None) -> None:
    study = create_study({**DEMO, "name": "unscreened", "screening": []})

    assert "No rule is named" in found(study)["Screening"].words


@pytest.mark.usefixtures("transactional_db")
def test_work_by_hand_is_a_pilot(demo_study: Study, market: MTurkMarket) -> None:
    publish(demo_study, market, hits=1)
    CrowdWorker(demo_study.hits.get(number=0), people()[0]).finish()
    sync(offering_for(demo_study, "local"), market, now)

    pilot = found(demo_study)["Pilot"]

    assert (pilot.is_settled, pilot.words) == (True, "People have worked on 1 HIT of it already.")


def test_the_page_lists_the_points_and_looks_outside_on_request(
    transactional_db: None, demo_study: Study, researcher_client: Client
) -> None:
    Account.objects.create(pk=1, balance_cents=14_39)

    page = researcher_client.get("/studies/demo/").content.decode()
    looked = researcher_client.post("/studies/demo/publishing/look/", {"market": "local"}).content.decode()

    assert "Before people see it" in page
    assert "Nobody has tried it yet" in page
    assert "the account holds $14.39" in looked
    assert "can&#x27;t be reached" in looked  # no server runs at PUBLIC_URL
    assert researcher_client.get("/studies/demo/publishing/look/").status_code == 405


def test_looking_outside_names_no_money_where_none_moves(transactional_db: None, bare_study: Study) -> None:
    balance, address = outside_checks(offering_for(bare_study, "local"))

    assert (balance.is_settled, balance.words) == (True, "No money moves there.")
    assert not address.is_settled


def test_the_command_says_first_that_mturk_has_ended(
    bare_study: Study, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Amazon is played by a port at which nobody answers.
    monkeypatch.setitem(ENDPOINTS, "sandbox", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ours")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "ours")
    settings.PUBLIC_URL, settings.MTURK_ENVIRONMENT = "https://eval.example.org", "sandbox"
    output = StringIO()

    with pytest.raises(CommandError, match=r"can't be reached.*Amazon announced the end of Mechanical Turk"):
        call_command("publish_hits", "demo", environment="sandbox", stdout=output)

    assert output.getvalue().splitlines()[0].endswith(END_OF_MTURK)


def test_errors_of_the_service_name_its_end_and_those_of_a_hit_do_not() -> None:
    from botocore.exceptions import ClientError

    def refused(code: str) -> MarketRefused:
        def call() -> dict[str, Any]:
            raise ClientError({"Error": {"Code": code, "Message": "No."}}, "CreateHIT")

        with pytest.raises(MarketRefused) as error:
            translated(call, END_OF_MTURK)
        return error.value

    assert END_OF_MTURK in str(refused("AccessDeniedException"))
    assert END_OF_MTURK not in str(refused("ParameterValidationError"))
    with pytest.raises(MarketUnavailable) as away:
        MTurkMarket(
            boto_client("http://127.0.0.1:9", has_own_credentials=False, attempts=1), 50, "Mind."
        ).balance_cents()
    assert str(away.value).endswith(". Mind.")


ALL_POINTS = ["Pay", "Consent", "Contact", "Pilot", "Screening", "Balance", "Address"]
FOR_ANYONE = {"countries": [], "min_approved": 0, "min_approval_percent": 0}


@pytest.mark.parametrize("marketplace", ["local", "link.trial", "link.live", "prolific.local"])
def test_every_crowd_has_all_seven_points(
    example_corpus: None, settings: Settings, transactional_db: None, marketplace: str
) -> None:
    settings.PUBLIC_URL = "https://eval.invalid"  # a name that no server has
    crowd = {"name": split_marketplace_name(marketplace)[0], **FOR_ANYONE}
    study = study_with(crowd=crowd, pay={"reward": "2.00"})
    offering = offering_for(study, marketplace)

    checks = [*launch_checks(offering), *outside_checks(offering)]

    assert [check.name for check in checks if check.name != "Cost there"] == ALL_POINTS
    assert all(check.words for check in checks)
    assert not checks[-1].is_settled  # nobody can come by that address
    assert "can't be reached" in checks[-1].words


@pytest.mark.parametrize(
    ("reward", "pay", "balance"),
    [
        (0, "The study is unpaid", "There is no account."),
        ("2.00", "so say how you will", "at most $50.40 becomes due, which you pay elsewhere"),
    ],
)
def test_by_a_link_pay_and_balance_say_who_pays(
    example_corpus: None, transactional_db: None, reward: object, pay: str, balance: str
) -> None:
    paid = {"reward": reward, "minimum_hourly": 0, **({} if reward else {"bonus": 0})}
    study = study_with(crowd={"name": "link", **FOR_ANYONE}, pay=paid)
    offering = offering_for(study, "link.trial")

    checks = {check.name: check for check in [*launch_checks(offering), *outside_checks(offering)]}

    assert pay in checks["Pay"].words
    assert balance in checks["Balance"].words
    assert checks["Pay"].is_settled
    assert checks["Balance"].is_settled
