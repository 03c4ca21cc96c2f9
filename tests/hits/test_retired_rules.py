"""A frozen study names a rule that the code has no longer: everything goes on, and pages say what is missing."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evalplatform.errors import EvalPlatformError
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import copy_study
from hits.frames import study_frames
from hits.models import Event, ScreeningRun, Study, offering_for
from hits.models.screening_rule import RetiredRule
from hits.paying import pay
from hits.screening import RULES, parse_rules, screen
from hits.screening.paper_rules import SameAnswer
from hits.tasks import screen_work_of_offering
from tests.hits.crowd import CrowdWorker, now, people, publish


@pytest.fixture
def study(demo_study: Study, market: MTurkMarket, researcher: User, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Published and worked on before the rule was taken out of the code."""
    Study.objects.update(owner=researcher)
    publish(demo_study, market)
    CrowdWorker(demo_study.hits.get(number=0), people()[0]).finish()
    monkeypatch.delitem(RULES, "too_few_points")
    return Study.objects.get()


def test_what_was_frozen_is_collected_and_paid_and_its_design_stays_as_it_was(
    study: Study, market: MTurkMarket
) -> None:
    collected = collect(offering_for(study, "local"), market, now())
    paid = pay(offering_for(study, "local"), market, now)

    assert (collected.new, paid.rewards) == (1, 1)
    rule = study.parsed_design.screening[-1]
    assert isinstance(rule, RetiredRule)
    assert (rule.rule, rule.parameters) == ("too_few_points", {"points": 2})
    assert study.parsed_design.as_json()["screening"] == study.design["screening"]


def test_a_rule_that_has_other_settings_now_is_retired_too(study: Study) -> None:
    design = {**study.design, "screening": [{"rule": "same_answer", "portion": 0.95}]}
    Study.objects.update(design=design)

    assert Study.objects.get().retired_rules == ["same_answer"]


def test_it_is_not_screened_by_its_own_rules_but_by_others_as_an_exploration(
    study: Study, market: MTurkMarket, researcher: User
) -> None:
    offering = offering_for(study, "local")
    collect(offering, market, now())

    with pytest.raises(EvalPlatformError, match="frozen with the screening rule too_few_points"):
        screen(offering, now())
    with pytest.raises(EvalPlatformError):
        screen_work_of_offering(offering.pk, researcher.pk)

    assert not ScreeningRun.objects.exists()
    assert "was not screened: The study was frozen with" in Event.objects.latest("pk").text
    others = parse_rules(study, {"screening": [{"rule": "same_answer"}]})
    assert others == [SameAnswer()]
    assert screen(offering, now(), others).run.is_frozen_rules is False


def test_it_is_not_screened_by_its_own_rules_before_there_is_work_either(study: Study) -> None:
    assert study_frames(offering_for(study, "local")).ratings.empty

    with pytest.raises(EvalPlatformError, match="frozen with the screening rule too_few_points"):
        screen(offering_for(study, "local"), now())

    assert not ScreeningRun.objects.exists()


@pytest.mark.parametrize("page", ["", "monitor/", "workers/", "assignments/", "ledger/"])
def test_every_page_of_the_study_says_so(study: Study, researcher_client: Client, page: str) -> None:
    response = researcher_client.get(f"/studies/demo/{page}")

    assert response.status_code == 200
    assert "frozen with the screening rule <code>too_few_points</code>" in response.content.decode()


def test_a_copy_shows_the_rule_in_its_form_and_can_drop_it(
    study: Study, researcher: User, researcher_client: Client
) -> None:
    copy_study(study, "copy", researcher)

    form = " ".join(researcher_client.get("/studies/copy/edit/checkpoints/").content.decode().split())

    assert "too_few_points: this version of EvalPlatform has no such rule" in form
    page = researcher_client.get("/studies/copy/").content.decode()
    assert "&#x27;too_few_points&#x27; is no screening rule; known are same_answer" in page
