"""A study that stops by its own rule: it drops who has lost, publishes in waves, and stops when all is decided."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.analysing import analyse_study, measure_progress, report_as_text, report_of
from hits.budgeting import set_cap
from hits.crowds.mturk.client import MTurkMarket
from hits.deciding import follow_rule, is_rule_due
from hits.deciding.following import Followed
from hits.designing import create_study
from hits.exporting import check_bundle, export_bundle
from hits.models import (
    DroppedModel,
    Event,
    Offering,
    Publication,
    PublishingRun,
    Rating,
    RuleLook,
    RuleStop,
    offering_for,
)
from hits.publishing import finish_run, plan_publishing, publish_hits, request_run, resume_study, stop_study
from hits.syncing import sync
from simulated_crowd.channels import InProcess
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import Truth
from tests import snapshots
from tests.conftest import DEMO
from tests.pages import html_of

PAGE = "https://eval.example.org/work"
# One model is far worse; the other two are as good as each other.
TRUTH = Truth(
    generators={"listener-large": (0.8, 0.1, 0.1), "listener-small": (0.8, 0.1, 0.1), "parrot": (0.02, 0.08, 0.9)}
)


def make(market: MTurkMarket, **analysis: Any) -> Offering:
    rule = {"stop_when_decided": True, "drop_losers": True, "wave_hits": 2, **analysis}
    settings = {
        **DEMO,
        "generators": ["listener-large", "listener-small", "parrot"],
        "analysis": rule,
        "hits": {"assignments": 8},
    }
    study = create_study({**settings, "pay": {**DEMO.get("pay", {}), "budget": 100}}, User.objects.first())
    snapshots.build(study)
    study.refresh_from_db()
    offering = offering_for(study, "local")
    carry_out(request_run(offering, None, None, None, timezone.now()), market)
    return offering


def carry_out(run: PublishingRun, market: MTurkMarket) -> None:
    """As a background process does, but without asking whether the worker's page answers: no server runs here."""
    result = publish_hits(plan_publishing(run.offering, run.most_hits, run), market, PAGE, timezone.now)
    assert not result.refused
    finish_run(run, "done", timezone.now())


def work(offering: Offering, seed: int = 5) -> None:
    simulate(offering.study, Crowd(30, TRUTH, seed=seed), InProcess())


def follow(offering: Offering, market: MTurkMarket) -> Followed:
    sync(offering, market, timezone.now)
    return follow_rule(offering, market, timezone.now, lambda run: carry_out(run, market))


@pytest.mark.usefixtures("example_corpus")
def test_a_model_that_has_lost_is_in_no_later_hit_and_the_study_goes_on_in_waves(
    market: MTurkMarket, tmp_path: Path
) -> None:
    offering = make(market)
    assert Publication.objects.count() == 2
    work(offering)

    first = follow(offering, market)

    assert (first.dropped, first.stopped, first.is_wave_requested) == (("parrot",), "", True)
    assert list(Publication.objects.order_by("hit__number").values_list("wave", "dropped_models")) == [
        (1, []),
        (1, []),
        (2, ["parrot"]),
        (2, ["parrot"]),
    ]
    work(offering, seed=6)
    follow(offering, market)
    of_second_wave = Rating.objects.filter(item__hit__number__in=[2, 3])
    assert of_second_wave.exists()
    assert not of_second_wave.filter(candidate__generator__name="parrot").exists()
    assert of_second_wave.filter(candidate=None).exists()  # the human reply stays
    work(offering, seed=7)
    follow(offering, market)
    folder = tmp_path / "bundle"
    export_bundle(offering, folder)
    assert check_bundle(folder) == []
    about = json.loads((folder / "bundle.json").read_text())
    assert about["dropped_models"] == {"2": ["parrot"], "3": ["parrot"], "4": ["parrot"], "5": ["parrot"]}
    told = "at half of the error level, lay below another model's left that model out: parrot was dropped."
    assert told in (folder / "methods.md").read_text()
    assert about["card_order_secret"]
    about["dropped_models"] = {"2": ["parrot"], "3": ["listener-large"]}
    (folder / "bundle.json").write_text(json.dumps(about))
    found = check_bundle(folder)
    assert any("had been dropped before their HIT" in one for one in found)
    assert any("stood in another order" in one for one in found)
    assert Event.objects.filter(text__startswith="parrot was dropped: it has lost against").count() == 1


@pytest.mark.usefixtures("example_corpus")
def test_a_study_stops_when_every_pair_is_decided_and_its_sequences_are_the_verdict(
    market: MTurkMarket, researcher: User, researcher_client: Client, tmp_path: Path
) -> None:
    offering = make(market, compare="one against the others", reference="parrot", wave_hits=0)
    assert Publication.objects.count() == 6  # all at once: the rule takes off what nobody needs any more
    simulate(offering.study, Crowd(40, TRUTH, seed=5), InProcess(), hit_count=3)
    sync(offering, market, timezone.now)

    # A process that is killed between deciding and stopping leaves this behind: the next one goes on.
    with pytest.raises(KeyboardInterrupt):
        follow_rule(offering, Killed(market), timezone.now, lambda run: None)
    assert RuleStop.objects.get().applied_at is None
    assert Publication.objects.open().count() == 6
    assert is_rule_due(offering)
    stopped = follow(offering, market).stopped
    again = follow(offering, market).stopped

    assert stopped == again
    assert "every pair is decided after 24 assignments of 3 whole HITs" in stopped
    assert DroppedModel.objects.count() == 0  # the reference has lost, but is what the others are compared with
    assert RuleStop.objects.get().applied_at is not None
    assert not Publication.objects.open().exists()
    assert Event.objects.filter(text__contains="stopped by its own rule").count() == 1
    assert not is_rule_due(offering)
    progress = measure_progress(offering)
    assert progress.is_complete
    assert progress.reason.startswith("stopped by its rule after 24 of 48 assignments: every pair is decided")
    text = "\n".join(report_as_text(report_of(analyse_study(offering))))
    assert "listener-large is better" in text
    assert "Stopped by its rule after 24 of 48 assignments" in text
    assert "Models that share a letter" not in text
    page = html_of(researcher_client.get("/studies/demo/monitor/"))
    assert "Stopped by its rule after 24 of 48 assignments" in page
    assert "listener-large is better" in page
    with pytest.raises(EvalPlatformError, match="has stopped by its own rule"):
        plan_publishing(offering)
    with pytest.raises(EvalPlatformError, match="has stopped by its own rule"):
        resume_study(offering, market, timezone.now)
    _check_that_its_texts_are_those_of_a_study_that_has_ended(offering, tmp_path / "bundle")


def _check_that_its_texts_are_those_of_a_study_that_has_ended(offering: Offering, folder: Path) -> None:
    export_bundle(offering, folder)
    methods, sheet = ((folder / name).read_text() for name in ("methods.md", "datasheet.md"))
    for told in (methods, sheet):
        assert "By design, confidence sequences decide, whenever data collection ends" in told
        assert "Differences of the primary outcome have confidence sequences, which are valid at every look" in told
        assert not re.search(r"results are interim|1 times|no p-values|[+-]0\.\d\d\d", told)
    ended = "Data collection stopped after 24 of 48 planned assignments, when every planned pair was decided."
    assert methods.count(ended) == 1
    assert "every planned pair was decided" not in sheet  # the datasheet does not repeat what methods say
    assert check_bundle(folder) == []


class Killed:
    """A marketplace at which our process is killed as soon as it is called."""

    def __init__(self, market: MTurkMarket) -> None:
        self.market = market

    def __getattr__(self, name: str) -> Any:
        raise KeyboardInterrupt


@pytest.mark.usefixtures("example_corpus")
def test_two_syncs_at_once_look_drop_and_ask_for_a_wave_once(market: MTurkMarket) -> None:
    offering = make(market)
    work(offering)
    sync(offering, market, timezone.now)
    asked: list[PublishingRun] = []

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(follow_in_thread, offering, market, asked) for _ in range(2)]
    found = [one.result() for one in both]

    assert sorted(one.dropped for one in found) == [(), ("parrot",)]
    assert (RuleLook.objects.count(), DroppedModel.objects.count(), len(asked)) == (1, 1, 1)


def follow_in_thread(offering: Offering, market: MTurkMarket, asked: list[PublishingRun]) -> Followed:
    try:
        return follow_rule(Offering.objects.get(pk=offering.pk), market, timezone.now, asked.append)
    finally:
        connection.close()


@pytest.mark.usefixtures("example_corpus")
def test_a_study_that_was_stopped_by_hand_publishes_no_wave_until_it_is_resumed(market: MTurkMarket) -> None:
    offering = make(market, stop_when_decided=False, drop_losers=False)
    work(offering)
    stop_study(offering, market, timezone.now)

    assert not follow(offering, market).is_wave_requested
    resume_study(offering, market, timezone.now)
    assert follow(offering, market).is_wave_requested
    assert Publication.objects.count() == 4


@pytest.mark.usefixtures("example_corpus")
def test_a_study_stops_when_its_budget_allows_no_other_wave_and_more_money_lifts_that(market: MTurkMarket) -> None:
    offering = make(market, drop_losers=False)
    work(offering)
    sync(offering, market, timezone.now)
    set_cap(offering, 1500, None, timezone.now())

    found = follow(offering, market)

    assert found.stopped.startswith("the budget does not allow another wave")
    assert RuleStop.objects.get().kind == "budget"
    assert measure_progress(offering).is_complete
    carry_out(request_run(offering, None, None, None, timezone.now()), market)
    assert not measure_progress(offering).is_complete
    assert RuleStop.objects.get().lifted_at is not None
