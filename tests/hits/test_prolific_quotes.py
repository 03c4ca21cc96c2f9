"""What Prolific's own calculator says is shown before publishing: on the page, in the list, in the terminal."""

import pytest
from django.test import Client
from pytest_django import Settings

from evalplatform.errors import EvalPlatformError
from hits.designing import create_study
from hits.models import Offering
from hits.publishing import outside_checks
from localprolific import misbehaving
from localprolific.models import ProlificStudy, Workspace
from tests.conftest import DEMO
from tests.hits.prolific_study import PARTICIPANTS, POUNDS, drafted, no_faults, run
from tests.pages import html_of

__all__ = ["drafted", "no_faults"]

COST = "Prolific&#x27;s own calculator says £16.80 for 8 places, with its fee and VAT"


def ask(client: Client, hits: str = "2") -> str:
    return html_of(client.post("/studies/demo/publishing/quote/", {"market": "prolific.local", "hits": hits}))


def test_the_page_asks_what_it_costs_there(drafted: Offering, researcher_client: Client) -> None:
    page = html_of(researcher_client.get("/studies/demo/?market=prolific.local"))
    two, all_of_them = ask(researcher_client), ask(researcher_client, "")

    assert 'hx-post="/studies/demo/publishing/quote/"' in page
    assert 'class="is-settled"' in two
    assert COST in two
    assert "£10,000.00 is free in the workspace" in two
    assert "It wants £6.00 an hour at least, and £1.50 for 10 minutes is £9.00." in two
    assert "Bonuses of at most £1.28 come on top." in two
    assert "for 24 places" in all_of_them
    assert ProlificStudy.objects.count() == 0


def test_the_command_and_the_list_say_it_too(drafted: Offering, settings: Settings) -> None:
    shown = run("publish_hits", "--hits", "2", "--dry-run")
    checks = {one.name: one for one in outside_checks(drafted)}

    settings.PROLIFIC_FEE_PERCENT = 10
    too_dear = run("publish_hits", "--hits", "2", "--dry-run")

    assert "Prolific's own calculator says £16.80 for 8 places" in shown
    assert "this server reckoned with" in too_dear
    assert checks["Cost there"].is_settled
    assert "own calculator says £50.40 for 24 places" in checks["Cost there"].words


def test_what_stands_in_the_way_is_said_before_the_button(
    drafted: Offering, researcher_client: Client, settings: Settings
) -> None:
    ask(researcher_client)  # the first call makes the workspace
    Workspace.objects.update(balance_cents=1000)
    poor = ask(researcher_client)
    settings.PROLIFIC_FEE_PERCENT = 10
    dear = ask(researcher_client)
    misbehaving.add_process_fault("fail-before", operation="calculate_cost")
    away = ask(researcher_client)
    odd = ask(researcher_client, "none")

    assert "8 places cost £16.80, and £10.00 is free there." in poor
    assert "Set PROLIFIC_FEE_PERCENT" in dear
    assert "Prolific does not accept requests right now" in away
    assert "is no number of HITs" in odd
    for answer in (poor, dear, away, odd):
        assert "look at this" in answer


def test_an_hour_is_judged_by_the_whole_minutes_that_prolific_is_told(example_corpus: None) -> None:
    pay = {**POUNDS, "reward": "0.95", "expected_minutes": 9.5}  # told as 10 minutes, which want £1.00

    with pytest.raises(EvalPlatformError, match=r"for 10 minutes, set pay\.reward to £1\.00 or more"):
        create_study({**DEMO, "crowd": PARTICIPANTS, "pay": pay})
