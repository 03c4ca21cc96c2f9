"""A crowd whose truth is known: it goes the workers' way, and what it says can be compared with what it was told."""

from collections import Counter, defaultdict
from datetime import timedelta
from io import StringIO
from pathlib import Path
from statistics import correlation, pstdev
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django.live_server_helper import LiveServer

from evalplatform.errors import EvalPlatformError
from hits.collecting import Collected, collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.frames import study_frames
from hits.models import Answer, Assignment, HitItem, Rating, Study, Submission, offering_for
from hits.publishing import stop_study
from simulated_crowd.channels import InProcess, OverHttp
from simulated_crowd.judging import Judge
from simulated_crowd.knowing import KnownDialog
from simulated_crowd.management.commands.simulate_crowd import _say_refused
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import HUMAN, Truth, read_truth
from simulated_crowd.worker_types import BONUS_HUNTING, CAREFUL, HASTY, SAME_ANSWER, WORKER_TYPES, parse_shares
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import now, publish

TRUTH = read_truth("demo")
MINUTES = timedelta(minutes=1)


def make_study(market: MTurkMarket, hits: int, name: str = "demo", **settings: Any) -> Study:
    """From the example corpus, with so many HITs on the marketplace."""
    study = create_study({**DEMO, "name": name, **settings})
    snapshots.build(study)
    study.refresh_from_db()
    publish(study, market, hits)
    return study


def ratings_of(study: Study, market: MTurkMarket) -> dict[tuple[str, str, str], str]:
    """By worker, dialog and whose reply it is."""
    collect(offering_for(study, "local"), market, now())
    names = ("submission__assignment__crowd_worker_id", "item__dialog__external_id", "candidate__generator__name")
    rows = Rating.objects.filter(item__hit__study=study).values_list(*names, "value")
    return {(worker, dialog, generator or HUMAN): value for worker, dialog, generator, value in rows}


def test_all_that_the_crowd_hands_in_is_collected_completely(demo_study: Study, market: MTurkMarket) -> None:
    publish(demo_study, market)
    told: list[tuple[int, int]] = []

    work = simulate(demo_study, Crowd(20, TRUTH, seed=38), InProcess(), lambda *counts: told.append(counts))

    assert (work.submitted.total(), work.left, told[-1]) == (24, 0, (24, 24))
    assert min(work.returned.total(), work.abandoned.total()) > 0
    assert work.refused == {"not qualified": 1}
    assert collect(offering_for(demo_study, "local"), market, now()) == Collected(new=24)
    assert Assignment.objects.filter(submission=None, taken_over_at=None).count() == 0
    replies = sum(len(card.candidates) + card.is_gold for item in HitItem.objects.all() for card in item.cards)
    assert Rating.objects.count() == 4 * replies


def test_a_worker_says_the_same_of_a_reply_whatever_came_before(example_corpus: None, market: MTurkMarket) -> None:
    all_at_once, in_two_parts = make_study(market, 2, "one"), make_study(market, 2, "two")
    crowd = Crowd(8, TRUTH)

    simulate(all_at_once, crowd, InProcess())
    simulate(in_two_parts, crowd, InProcess(), hit_count=1)
    simulate(in_two_parts, crowd, InProcess())

    one, two = (ratings_of(study, market) for study in (all_at_once, in_two_parts))
    both = one.keys() & two.keys()
    assert len(one) == len(two) == 8 * 43
    assert 43 < len(both) < len(one)
    assert {key: one[key] for key in both} == {key: two[key] for key in both}


def test_the_seed_says_who_comes_and_what_they_say() -> None:
    one, again, other = (Crowd(50, TRUTH, seed=seed) for seed in (1, 1, 2))

    def said(crowd: Crowd) -> list[int]:
        dialog = KnownDialog("ED", "some", {})
        return [Judge(worker, TRUTH, level_count=3).level(dialog, ("parrot",)) for worker in crowd.workers]

    assert one.workers == again.workers
    assert said(one) == said(again) != said(other)
    assert [worker.type for worker in one.workers] != [worker.type for worker in other.workers]


def test_careful_ratings_have_the_shares_of_the_truth_and_workers_differ() -> None:
    truth = read_truth("table5")
    writers = (*truth.datasets["ED"].generators, HUMAN)
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    goods: Counter[int] = Counter()

    for worker in Crowd(100, truth, {CAREFUL: 1}).workers:
        judge = Judge(worker, truth, level_count=3)
        for number in range(20):
            for writer in writers:
                area = judge.level(KnownDialog("ED", f"dialog {number}-{worker.number}", {}), (writer,))
                counts[writer][area] += 1
                goods[worker.number] += area == 0

    for writer in writers:
        shares = [counts[writer][area] / 2000 for area in range(3)]
        assert shares == pytest.approx(truth.shares("ED", writer), abs=0.05)
    # Of a hundred ratings each; those of dialogs and replies aside, chance alone would make it 4 to 5.
    assert pstdev(goods.values()) > 8


def test_each_type_of_worker_behaves_as_it_is_called(demo_study: Study, market: MTurkMarket) -> None:
    publish(demo_study, market, hits=4)
    crowd = Crowd(10, TRUTH, dict.fromkeys(WORKER_TYPES.values(), 0.2), seed=9)

    work = simulate(demo_study, crowd, InProcess())

    assert work.submitted.keys() == WORKER_TYPES.keys()
    collect(offering_for(demo_study, "local"), market, now())
    areas: dict[str, set[str]] = defaultdict(set)
    for submission in Submission.objects.select_related("assignment"):
        worker_id = submission.assignment.crowd_worker_id
        worker_type = crowd.type_of(worker_id)
        areas[worker_id] |= set(submission.ratings.values_list("value", flat=True))
        took, active = _times(submission)
        assert active < took < active + 2 * MINUTES
        attempts = Counter(submission.assignment.bonus_checks.values_list("item", flat=True))
        if worker_type is CAREFUL:
            assert active > 5 * MINUTES
            assert max(attempts.values()) <= 2
        if worker_type is HASTY:
            assert took < 5 * MINUTES
        if worker_type is BONUS_HUNTING:
            assert submission.assignment.bonus_checks.filter(is_passed=True).count() == 3
    # Our clock allows what the workers told: their work is dated as it would have happened.
    answers = study_frames(offering_for(demo_study, "local")).answers
    told = Answer.objects.filter(assignment__submission__isnull=False).values_list("active_ms", flat=True)
    assert answers["active_ms"].sum() == sum(told)
    for worker_id, used in areas.items():
        assert (len(used) == 1) == (crowd.type_of(worker_id) is SAME_ANSWER)


def _times(submission: Submission) -> tuple[timedelta, timedelta]:
    """As the marketplace saw it, and as the page was told."""
    answers = Answer.objects.filter(assignment=submission.assignment)
    for answer in answers:
        times = [move[0] for move in answer.moves]
        assert times == sorted(times)
        assert 0 < times[-1] <= answer.active_ms
    assert submission.submitted_at <= now()
    active = timedelta(milliseconds=sum(answer.active_ms + answer.hidden_ms for answer in answers))
    return submission.submitted_at - submission.accepted_at, active


def test_nobody_takes_more_than_the_study_allows(example_corpus: None, market: MTurkMarket) -> None:
    study = make_study(market, 6, crowd={"max_hits_per_worker": 1})

    work = simulate(study, Crowd(6, TRUTH), InProcess())

    assert (work.submitted.total() + work.returned.total() + work.abandoned.total(), work.wanted) == (6, 24)
    assert work.left == 24 - work.submitted.total()
    assert simulate(study, Crowd(6, TRUTH, seed=2), InProcess()).submitted.total() == 0


def test_what_was_taken_off_the_market_is_not_worked_on(demo_study: Study, market: MTurkMarket) -> None:
    publish(demo_study, market, hits=2)

    def stop_after_three(done: int, total: int) -> None:
        if done == 3:
            stop_study(offering_for(demo_study, "local"), market, now)

    work = simulate(demo_study, Crowd(12, TRUTH), InProcess(), stop_after_three)

    assert (work.submitted.total(), work.left) == (3, 5)
    assert work.refused["expired"] > 0


def test_the_crowd_works_over_http(demo_study: Study, market: MTurkMarket, live_server: LiveServer) -> None:
    publish(demo_study, market, hits=1)

    work = simulate(demo_study, Crowd(12, TRUTH), OverHttp(live_server.url))

    assert work.submitted.total() == 4
    assert len(ratings_of(demo_study, market)) == 4 * 43


def test_the_command_says_what_happened(demo_study: Study, market: MTurkMarket) -> None:
    with pytest.raises(CommandError, match="run publish_hits demo first"):
        call_command("simulate_crowd", "demo", stdout=StringIO())
    publish(demo_study, market, hits=1)
    out = StringIO()

    call_command("simulate_crowd", "demo", workers=12, types="same-answer=0.5,careful=0.5", stdout=out)

    assert "12 workers come: 6 same-answer, 6 careful." in out.getvalue()
    assert "4 assignments submitted (" in out.getvalue()
    assert "Refused: 1 not qualified." in out.getvalue()
    assert "No assignment is left." in out.getvalue()


def test_a_crowd_that_finds_nothing_left_says_so_in_words() -> None:
    said = _say_refused(Counter({"nothing-free": 20, "not qualified": 1}))

    assert said == "20 visits found nothing left to do. Refused: 1 not qualified."


def test_a_truth_of_ones_own_is_a_file_with_defaults(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text("""
        default = [0.5, 0.5]
        generators.parrot = [0.1, 0.9]
        datasets.ED.generators.parrot = [0.2, 0.8]
        datasets.ED.human = [1, 0]
        effects = {worker = 0.3}
    """)

    truth = read_truth(str(file))

    assert [truth.shares(dataset, "parrot") for dataset in ("ED", "OS")] == [(0.2, 0.8), (0.1, 0.9)]
    assert (truth.shares("ED", "other"), truth.shares("ED", HUMAN)) == ((0.5, 0.5), (1, 0))
    assert truth.cuts("ED", ("other", "parrot"), level_count=2) == pytest.approx([0.35])
    assert (truth.effects.worker, truth.effects.dialog) == (0.3, 0.1)
    assert truth.unmentioned(["ED"], ["parrot", "other"]) == ["other"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("default = [0.5, 0.9]", "default: must be shares"),
        ("effects = {wroker = 0.3}", "effects: must be shares of the variance named"),
        ("effects = {worker = 1.3}", "effects: .* together below 1"),
        ("generatrs = {}", "generatrs: Extra inputs"),
        ("=", "not valid TOML"),
    ],
)
def test_a_broken_truth_is_refused_in_words(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)

    with pytest.raises(EvalPlatformError, match=message):
        read_truth(str(file))


def test_studies_with_other_areas_get_the_truth_spread_over_them() -> None:
    truth = Truth(default=(0.2, 0.3, 0.5))
    workers = Crowd(100, truth, {CAREFUL: 1}).workers

    def share_of_best(level_count: int) -> float:
        areas = [
            Judge(worker, truth, level_count).level(KnownDialog("ED", f"{number}-{worker.number}", {}), ("any",))
            for worker in workers
            for number in range(8)
        ]
        assert set(areas) == set(range(level_count))
        return areas.count(0) / len(areas)

    assert share_of_best(3) == pytest.approx(0.2, abs=0.05)
    assert share_of_best(6) == pytest.approx(0.1, abs=0.05)
    assert share_of_best(2) == pytest.approx(0.35, abs=0.06)


@pytest.mark.parametrize("text", ["hasty=2", "careful=0.5,hasty=0.1", "lazy=0.1", "hasty=some"])
def test_shares_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(EvalPlatformError):
        parse_shares(text)


def test_criteria_that_the_truth_does_not_name_are_related_but_not_one_in_disguise() -> None:
    worker = Crowd(1, TRUTH, {CAREFUL: 1}).workers[0]
    judge = Judge(worker, TRUTH, level_count=5)
    told = [
        judge.levels_on(KnownDialog("ED", str(number), {}), [("parrot",)], {"empathy": 5, "fluency": 5})
        for number in range(400)
    ]
    empathy, fluency = ([one[name][0] for one in told] for name in ("empathy", "fluency"))

    assert 0.1 < correlation(empathy, fluency) < 0.8
    assert empathy == [judge.level(KnownDialog("ED", str(number), {}), ("parrot",)) for number in range(400)]
