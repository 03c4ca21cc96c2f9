"""A toy that compares two replies goes through every room: from the study file to a bundle that can be checked."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from generation.models import Candidate
from hits.analysing import analyse_study, choose_dialogs, compute_results, find_rated_dialogs, report_as_text, report_of
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.exporting import RATINGS_FILES, check_bundle
from hits.frames import study_frames
from hits.models import Exclusion, Hit, HitItem, Offering, Rating, Study, offering_for
from hits.protocols import PROTOCOLS
from hits.stats import Estimate, Undefined
from hits.stats.coded_ratings import NOT_FOR_COMPARISONS
from hits.views.dialogs_page import ShownCard
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.toy_duels import Duels

SETTINGS = {**DEMO, "protocol": "duels"}

# For tests that draw figures: with three datasets, that takes most of their time.
of_one_dataset = pytest.mark.parametrize(
    "study", [{"datasets": [{"name": "example-empathetic", "dialogs": 20}]}], indirect=True, ids=["one dataset"]
)


@pytest.fixture(autouse=True)
def pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROTOCOLS, "duels", Duels)


@pytest.fixture(params=[{}], ids=["three datasets"])
def study(request: pytest.FixtureRequest, example_corpus: None, researcher: User) -> Study:
    study = create_study({**SETTINGS, **request.param})
    study.owner = researcher
    study.save()
    snapshots.build(study)
    study.refresh_from_db()
    return study


@pytest.fixture
def offering(study: Study) -> Offering:
    return offering_for(study, "local")


class PairWorker(CrowdWorker):
    def choose(self, empathy: str, fluency: str) -> "PairWorker":
        """The same side in all dialogs that have two replies to compare."""
        dialogs = []
        for position, dialog in enumerate(self.data["dialogs"]):
            better = {"empathy": empathy, "fluency": fluency} if len(dialog["cards"]) == 2 else {}
            dialogs.append({"position": position, "revision": dialog["answer"]["revision"], "better": better})
        answer = self.submit(dialogs)
        assert answer.status_code == 200, answer.content
        self.hand_in(answer.json()["fields"])
        return self


def names_of(item: HitItem) -> list[str]:
    keys = [pk for card in item.cards for pk in card.candidates]
    return [Candidate.objects.get(pk=pk).generator.name for pk in keys]


def test_items_hold_two_replies_and_every_pair_comes_about_equally_often(study: Study) -> None:
    plain, checkpoints = (HitItem.objects.filter(is_checkpoint=one) for one in (False, True))

    by_pair = Counter(tuple(names_of(item)) for item in plain)
    by_model = Counter(tuple(names_of(item)) for item in checkpoints)

    assert {len(pair) for pair in by_pair} == {2}
    assert len(by_pair) == 6
    assert max(by_pair.values()) <= 2 * min(by_pair.values())
    assert {len(alone) for alone in by_model} == {1}
    assert all(item.gold_card == 1 for item in checkpoints)
    for hit in study.hits.all():
        assert len({tuple(names_of(item)) for item in hit.items.filter(is_checkpoint=False)}) >= 4


@pytest.fixture
def hit(study: Study, market: MTurkMarket) -> Hit:
    publish(study, market, 1)
    return study.hits.get(number=0)


def test_a_worker_sees_two_replies_and_what_was_answered_is_shown_again(hit: Hit) -> None:
    worker = PairWorker(hit, people()[0])

    assert {len(dialog["cards"]) for dialog in worker.data["dialogs"]} == {2}
    assert worker.data["criteria"] == ["empathy", "fluency"]

    saved = worker.call("save", {"dialogs": [{"position": 0, "revision": 0, "better": {"empathy": "second"}}]})
    assert saved.status_code == 200, saved.content
    assert worker.open().data["dialogs"][0]["answer"]["better"] == {"empathy": "second"}


def test_ratings_have_opponents_and_the_human_reply_is_never_one(
    hit: Hit, offering: Offering, market: MTurkMarket
) -> None:
    PairWorker(hit, people()[0]).choose(empathy="first", fluency="both")
    PairWorker(hit, people()[1]).choose(empathy="second", fluency="both")

    collect(offering, market, now())

    assert Rating.objects.count() == 2 * 2 * 10
    assert not Rating.objects.filter(opponent=None).exists()
    assert Rating.objects.filter(candidate=None).count() == 2 * 2 * 3
    frames = study_frames(offering)
    assert frames.ratings["opponent"].notna().all()
    assert set(frames.ratings["criterion"].unique()) == {"empathy", "fluency"}
    ties = frames.ratings[frames.ratings["criterion"] == "fluency"]
    assert set(ties["value"]) == {"tie"}
    # The same two replies, in whatever order they stood: both workers' ratings are of the same candidate.
    assert not frames.ratings.groupby(["item", "criterion"], observed=True)["card"].nunique().gt(1).any()
    of_empathy = frames.ratings[frames.ratings["criterion"] == "empathy"]
    by_place = of_empathy["score"] * (1 - 2 * of_empathy["place"])  # of the reply at the first place
    assert sorted(by_place.groupby(of_empathy["worker"], observed=True).agg(["min", "max"]).to_numpy().tolist()) == [
        [-1, -1],
        [1, 1],
    ]
    won = of_empathy[of_empathy["is_gold"] & (of_empathy["value"] == "win")].groupby("submission").size()
    assert frames.submissions.set_index("submission")["points"].loc[won.index].tolist() == won.tolist()


@pytest.fixture
def worked(study: Study) -> Study:
    call_command("publish_hits", "demo", "--environment", "local", "--yes", stdout=io.StringIO(), stderr=io.StringIO())
    call_command("simulate_crowd", "demo", "--seed", "7", stdout=io.StringIO())
    call_command("sync_hits", "demo", stdout=io.StringIO())
    call_command("screen_study", "demo", stdout=io.StringIO())
    return study


@pytest.mark.django_db(transaction=True)
def test_results_of_comparisons_rank_models_and_say_what_is_not_defined(worked: Study, offering: Offering) -> None:
    results = analyse_study(offering)

    assert [one.criterion for one in results.criteria] == ["empathy", "fluency"]
    for one in results.criteria:
        assert one.is_comparison
        assert one.values == ("win", "tie", "loss")
        assert one.true_values == Undefined(NOT_FOR_COMPARISONS)
        assert isinstance(one.rankings[0].ranked, tuple)
        assert one.rankings[0].ranked[-1].generator == "parrot"
        together = one.comparisons[0]
        assert all(isinstance(pair.superiority, Estimate) for pair in together.comparisons)
        assert all(isinstance(pair.difference, Estimate) for pair in together.comparisons)
        # What some win the others lose: over all models, as many wins as losses.
        counts = Counter[str]()
        for row in one.table[: len(one.generators)]:
            assert isinstance(row.shares, tuple)
            counts.update({share.value: share.count for share in row.shares})
        assert counts["win"] == counts["loss"]
        assert sum(counts.values()) == 2 * one.size.ratings
        assert one.calibration[0].generator is None
    words = "\n".join(report_as_text(report_of(results)))
    assert "Criterion: fluency" in words
    assert f"undefined: {NOT_FOR_COMPARISONS}" in words


@of_one_dataset
@pytest.mark.django_db(transaction=True)
def test_the_bundle_has_opponents_and_is_accepted(worked: Study, tmp_path: Path) -> None:
    call_command("export_study", "demo", "--out", str(tmp_path / "bundle"), stdout=io.StringIO())

    for file in RATINGS_FILES:
        assert check_bundle(tmp_path / "bundle", file) == []
    about = json.loads((tmp_path / "bundle" / "bundle.json").read_text())
    assert {name: one["values"] for name, one in about["criteria"].items()} == {
        name: ["win", "tie", "loss"] for name in ("empathy", "fluency")
    }
    rows = list(csv.DictReader((tmp_path / "bundle" / "ratings.csv").open()))
    assert {row["criterion"] for row in rows} == {"empathy", "fluency"}
    assert all(row["opponent"] and row["opponent"] != row["generator"] for row in rows)
    results = json.loads((tmp_path / "bundle" / "results.json").read_text())
    assert [one["criterion"] for one in results["criteria"]] == ["empathy", "fluency"]
    tables = {path.name for path in (tmp_path / "bundle" / "tables").iterdir()}
    assert {"empathy-ranking.tex", "fluency-ranking.tex"} <= tables


@pytest.mark.django_db(transaction=True)
def test_who_always_prefers_the_same_place_is_left_out(hit: Hit, offering: Offering, market: MTurkMarket) -> None:
    PairWorker(hit, people()[0]).choose(empathy="first", fluency="first")
    PairWorker(hit, people()[1]).choose(empathy="first", fluency="both")
    collect(offering, market, now())

    call_command("screen_study", "demo", stdout=io.StringIO())

    evidence = {one.evidence["answer"] for one in Exclusion.objects.filter(rule="same_answer")}
    assert evidence == {"the first place"}


@of_one_dataset
@pytest.mark.django_db(transaction=True)
def test_the_pages_show_what_was_compared(worked: Study, offering: Offering, researcher_client: Client) -> None:
    call_command("screen_study", "demo", stdout=io.StringIO())
    compute_results(offering, now)

    results = researcher_client.get("/studies/demo/results/?market=local").content.decode()
    disputed = researcher_client.get("/studies/demo/results/dialogs/?market=local&criterion=empathy").content.decode()

    assert "Empathy: Which model is better" in results
    fluency = researcher_client.get("/studies/demo/results/?market=local&criterion=fluency").content.decode()
    assert "Fluency: Ranking" in fluency
    assert re.search(r"× better, against", disputed)


@pytest.mark.django_db(transaction=True)
def test_what_is_counted_of_a_model_is_listed_and_a_comparison_stands_at_both_of_its_replies(
    worked: Study, offering: Offering, researcher_client: Client
) -> None:
    compute_results(offering, now)
    [criterion, *_] = report_of(analyse_study(offering)).criteria
    facts = find_rated_dialogs(offering)
    assert facts is not None

    [table] = [one for one in criterion.section("shares").tables if one.dataset is None]
    rows = [row for row in table.rows if not row.head.is_human]
    for row in rows:
        [dialogs] = table.cells(row, "dialogs")
        assert dialogs.dialogs is not None
        assert len(choose_dialogs(facts, dialogs.dialogs)) == dialogs.number, row.head.names
    assert len(rows) == 4

    page = researcher_client.get("/studies/demo/results/dialogs/?market=local&criterion=empathy&model=parrot")
    assert "not rated" not in page.content.decode()
    for one in page.context["dialogs"]:
        assert any("parrot" in card.writers for card in one.cards)
        assert _who_said("better", one.cards) == _who_said("worse", one.cards)


def _who_said(word: str, cards: list[ShownCard]) -> Counter[int]:
    return Counter(
        said.assignment_pk for card in cards for label, who in card.values if label.startswith(word) for said in who
    )
