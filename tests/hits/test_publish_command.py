"""`publish_hits` as a user meets it: what it says, and each bad case with its message and status."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from hits.budgeting import typed_cap_cents
from hits.crowds.mturk.client import ENDPOINTS, MTurkMarket
from hits.models import Publication, Study, offering_for
from localturk.models import Account
from tests.conftest import DEMO
from tests.processes import manage

NO_AWS = {
    "AWS_ACCESS_KEY_ID": "",
    "AWS_SECRET_ACCESS_KEY": "",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_EC2_METADATA_DISABLED": "true",
}
HTTPS = {"PUBLIC_URL": "https://eval.example.org"}


@pytest.fixture(autouse=True)
def no_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NO_AWS.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str) -> str:
    output = StringIO()
    call_command("publish_hits", *arguments, stdout=output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("arguments", "settings_of_it", "message"),
    [
        (["demo", "--budget", "14.39"], {}, "at most $14.40, above the given budget of $14.39"),
        (["demo", "--budget", "much"], {}, "--budget is 'much'; write an amount in USD"),
        (["demo", "--budget", ""], {}, "--budget is ''; write an amount in USD"),
        (["demo", "--hits", "0"], {}, "--hits must be at least 1"),
        (["nope"], {}, "There is no study named 'nope'. Studies: demo, draft."),
        (["draft"], {}, "draft has no HITs yet: build them first with `manage.py build_hits draft`."),
        (["demo", "--environment", "production"], HTTPS, "set MTURK_ENVIRONMENT=production"),
        (
            ["demo", "--environment", "production", "--yes"],
            {"MTURK_ENVIRONMENT": "production", "PUBLIC_URL": "http://eval.example.org"},
            "PUBLIC_URL is http://eval.example.org, and workers on the production marketplace need a public HTTPS",
        ),
        (
            ["demo", "--environment", "production"],
            {"MTURK_ENVIRONMENT": "production", "PUBLIC_URL": "https://localhost"},
            "need a public HTTPS address",
        ),
        (["demo", "--environment", "sandbox"], HTTPS, "set MTURK_ENVIRONMENT=sandbox"),
        (
            ["demo", "--environment", "sandbox", "--dry-run"],
            {**HTTPS, "MTURK_ENVIRONMENT": "sandbox"},
            "There are no AWS credentials. Set AWS_ACCESS_KEY",
        ),
    ],
)
def test_bad_cases_end_with_their_message_and_a_status(
    bare_study: Study, settings: Settings, arguments: list[str], settings_of_it: dict[str, str], message: str
) -> None:
    Study.objects.create(name="draft", design=DEMO)
    for name, value in settings_of_it.items():
        setattr(settings, name, value)

    with pytest.raises(CommandError) as refused:
        run(*arguments)

    assert message in str(refused.value)
    assert refused.value.returncode == 1
    assert not Publication.objects.exists()


def test_a_balance_that_is_too_small_is_said_with_both_amounts(bare_study: Study) -> None:
    Account.objects.create(pk=1, balance_cents=14_39)

    with pytest.raises(CommandError, match=r"cost at most \$14.40, and the account holds \$14.39"):
        run("demo")

    assert run("demo", "--hits", "5", "--dry-run").endswith("Dry run: nothing is published.\n")


def test_settings_for_another_region_are_taken_for_a_mistake(
    bare_study: Study, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PUBLIC_URL, settings.MTURK_ENVIRONMENT = "https://eval.example.org", "sandbox"
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")

    with pytest.raises(CommandError, match="name the region eu-west-1, and Mechanical Turk is in us-east-1 only"):
        run("demo", "--environment", "sandbox")


def test_the_process_ends_with_one_line_and_a_status(bare_study: Study, test_database_url: str) -> None:
    environment = {"DATABASE_URL": test_database_url, "MTURK_ENVIRONMENT": "sandbox", **NO_AWS, **HTTPS}
    result = manage("publish_hits", "demo", "--environment", "sandbox", **environment)

    assert result.returncode == 1
    assert result.stderr.startswith("CommandError: There are no AWS credentials.")
    assert result.stderr.count("\n") == 1


def test_the_worker_page_is_opened_before_anything_is_published_elsewhere(
    transactional_db: None,
    bare_study: Study,
    localturk_url: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The sandbox is played by the local marketplace, at an address that only real credentials would be sent to.
    monkeypatch.setitem(ENDPOINTS, "sandbox", localturk_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ours")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "ours")
    settings.PUBLIC_URL, settings.MTURK_ENVIRONMENT = "https://127.0.0.2:9", "sandbox"

    with pytest.raises(CommandError, match=r"Workers could not work on https://127.0.0.2:9/work/.*: it can't be reach"):
        run("demo", "--environment", "sandbox")

    assert not Publication.objects.exists()


def test_the_cost_and_the_pay_come_first_and_the_counts_last(bare_study: Study, market: MTurkMarket) -> None:
    costs = (
        "demo on the local marketplace, wave 1: 6 HITs, 24 assignments, at most $14.40.\n"
        "$0.40 for 15 minutes is $1.60 an hour, below your minimum of $7.25: it takes a reward of $1.82 to reach it.\n"
    )

    assert run("demo", "--dry-run") == f"{costs}Dry run: nothing is published.\n"
    assert run("demo") == (
        f"{costs}This is a rehearsal: what people do there is marked as rehearsed, and not for publication.\n"
        f"6 HITs published, 0 found there already, 0 refused.\nLook at it: http://127.0.0.1:8000/studies/demo/\n"
    )
    assert run("demo").startswith("All HITs of demo are published on the local marketplace already.\n")


def test_an_interrupted_run_needs_no_money_for_what_is_there_already(bare_study: Study, market: MTurkMarket) -> None:
    Account.objects.create(pk=1, balance_cents=14_40)
    run("demo")
    Publication.objects.update(crowd_hit_id="", published_at=None)  # as if it had been killed before it saved anything

    assert "0 HITs published, 6 found there already, 0 refused." in run("demo", "--hits", "6", "--budget", "14.40")
    assert Publication.objects.confirmed().count() == 6


def test_stop_study_says_how_many_and_what_was_refused(bare_study: Study, market: MTurkMarket) -> None:
    run("demo")
    gone = Publication.objects.get(hit__number=0)
    Publication.objects.filter(pk=gone.pk).update(crowd_hit_id="3" + "X" * 29)
    output = StringIO()

    with pytest.raises(CommandError, match="no study named"):
        call_command("stop_study", "nope")
    call_command("stop_study", "demo", stdout=output)
    call_command("stop_study", "demo", resume=True, stdout=output)

    lines = output.getvalue().splitlines()
    assert lines[0] == "5 HITs taken off the market."
    assert lines[1].startswith("  1 time: The marketplace refused (AWS.MechanicalTurk.HITDoesNotExist)")
    assert lines[2] == "5 HITs on offer again."


@pytest.mark.usefixtures("market")
def test_a_budget_that_was_given_once_holds_until_another_is_given(demo_study: Study) -> None:
    assert "is $4.80 from now on" in run("demo", "--hits", "1", "--budget", "4.80")
    run("demo", "--hits", "1")

    with pytest.raises(CommandError, match=r"above the given budget of \$4.80"):
        run("demo")
    run("demo", "--dry-run", "--budget", "20")
    assert typed_cap_cents(offering_for(demo_study, "local")) == 4_80
    run("demo", "--budget", "20")
    run("demo", "--budget", "15")  # nothing is left to publish, and it holds for replacements
    assert typed_cap_cents(offering_for(demo_study, "local")) == 15_00
