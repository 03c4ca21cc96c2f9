"""Attention checks and repeats: where they stand, what pages tell, and what their answers count for."""

from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hits.analysing.planned_part import planned_until
from hits.batching import build_hits
from hits.budgeting.amounts_due import bonus_points
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.designing.design_problems import problems_of
from hits.models import Answer, Hit, HitItem, Rating, Study, Submission, offering_for
from hits.monitoring import Controls, controls_by_worker
from hits.protocols import PROTOCOLS, protocol_of
from simulated_crowd.channels import InProcess
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import read_truth
from simulated_crowd.worker_types import CAREFUL, RANDOM
from tests.conftest import DEMO
from tests.hits.controlled import ASKING, CONTROLS, Answers, attentively, built, by_place, carelessly, finish
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.toy_duels import Duels
from tests.hits.toy_protocol import Stars
from tests.hits.working import Worker
from tests.hits.working import publish as put_up

EVERY = [*ASKING, Stars.name, Duels.name]


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    for toy in (Stars, Duels):
        monkeypatch.setitem(PROTOCOLS, toy.name, toy)


def collected(study: Study, market: MTurkMarket, *answers: Answers) -> list[Submission]:
    """What comes of one worker each who answers so in the first HIT."""
    publish(study, market, 1)
    for account, how in zip(people(), answers, strict=False):
        finish(CrowdWorker(study.hits.get(number=0), account), how)
    collect(offering_for(study, "local"), market, now())
    return list(Submission.objects.order_by("pk"))


# --- Where they stand ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize("protocol", EVERY)
def test_controls_come_on_top_of_a_hit_s_dialogs_and_never_beside_what_they_show_again(protocol: str) -> None:
    study = built(protocol)

    for hit in Hit.objects.prefetch_related("items"):
        items = list(hit.items.all())
        controls = [one for one in items if one.repeats is not None]
        assert (len(items), len(controls)) == (14, 4)
        for one in controls:
            original = items[one.repeats or 0]
            assert (original.repeats, original.is_checkpoint, one.is_checkpoint) == (None, False, False)
            assert (one.dialog, one.cards) == (original.dialog, original.cards)
            assert one.position > original.position + 1
        told = [one for one in controls if one.told is not None]
        assert len({one.told for one in told}) == len({one.told_words for one in told}) == 2
        assert len({one.dialog_id for one in controls}) == 4
    assert protocol_of(study.parsed_design).design.items_per_hit == 14


@pytest.mark.usefixtures("example_corpus")
def test_the_seed_decides_about_controls_and_dialogs_are_dealt_as_without_them() -> None:
    def items(study: Study, **wanted: Any) -> list[tuple[Any, ...]]:
        found = HitItem.objects.filter(hit__study=study, **wanted).order_by("hit__number", "position")
        return list(found.values_list("hit__number", "dialog__external_id", "is_checkpoint", "repeats", "told"))

    one, other, without = (
        built("areas", name=name, **rules)
        for name, rules in (("one", {}), ("other", {}), ("without", {"attention_checks": 0, "repeats": 0}))
    )

    assert items(one) == items(other)
    assert items(one, repeats=None) == items(without)
    line = (one.manifest or {})["design"]["checkpoints"]
    assert {name: line[name] for name in CONTROLS} == CONTROLS
    assert not CONTROLS.keys() & (without.manifest or {})["design"]["checkpoints"].keys()


@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize(
    ("rules", "field", "words"),
    [
        ({"repeats": 7}, "checkpoints.repeats", "7 attention checks and repeats can't be made of 10 dialogs a HIT"),
        ({"attention_checks": 7}, "checkpoints.attention_checks", "lower it, or have more dialogs in a HIT"),
        ({"attention_text": "Choose Bad."}, "checkpoints.attention_text", "write {answer} where the answer belongs"),
        ({"repeats": 11}, "checkpoints.repeats", ""),
    ],
)
def test_too_many_controls_and_words_that_tell_nothing_are_refused(
    rules: dict[str, Any], field: str, words: str
) -> None:
    [problem] = problems_of({**DEMO, "checkpoints": {**DEMO["checkpoints"], **rules}})

    assert problem.field == field
    assert words in problem.message


@pytest.mark.usefixtures("example_corpus")
def test_hits_that_the_dialogs_do_not_fill_are_refused_before_they_are_built() -> None:
    few = [{"name": "example-empathetic", "dialogs": 4}]

    rules = {**DEMO["checkpoints"], "repeats": 1}
    [problem] = problems_of({**DEMO, "datasets": few, "checkpoints": rules, "screening": []})

    assert str(problem) == "checkpoints.repeats: some HITs have only 4 dialogs, and it takes 5; lower it"


# --- What pages tell -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize("protocol", EVERY)
def test_a_repeat_looks_like_any_dialog_with_its_cards_the_other_way_round(protocol: str) -> None:
    study = built(protocol)
    put_up(study)

    worker = Worker(study.hits.get(number=0)).open()

    shown = worker.data["dialogs"]
    for item in worker.hit.items.exclude(repeats=None):
        assert shown[item.position]["cards"] == shown[item.repeats or 0]["cards"][::-1]
        if item.told is None:
            assert shown[item.position].keys() == shown[item.repeats or 0].keys()
        else:
            assert shown[item.position]["told"] == item.told_words
    assert worker.data["facts"]["dialogs"] == len(shown) == 14
    assert sum("told" in one for one in shown) == 2


@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize(
    ("protocol", "words"),
    [
        ("areas", {"put every reply into Good", "put every reply into Okay", "put every reply into Bad"}),
        (
            "likert",
            {
                f"choose {point} on every scale for every reply"
                for point in ("1 (not at all)", "2", "3 (somewhat)", "4", "5 (very much)")
            },
        ),
        ("pairs", {"choose “A is better”", "choose “B is better”", "choose “As good”"}),
        (
            "stars",
            {
                f"answer “{stars} star{'s' if stars != 'one' else ''}” about every reply"
                for stars in ("one", "two", "three")
            },
        ),
        ("duels", {"choose the first reply as the better one", "choose the last reply as the better one"}),
    ],
)
def test_the_told_answer_is_the_protocol_s_and_the_words_may_be_the_researcher_s(
    protocol: str, words: set[str]
) -> None:
    usual = built(protocol, name="usual")
    own = built(protocol, name="own", attention_text="Read this: {answer}!")

    told = {item.told_words for item in HitItem.objects.filter(hit__study=usual).exclude(told=None)}
    assert told
    assert told <= {
        f"This conversation only checks that you are reading. Whatever you think of its replies, please {one}."
        for one in words
    }
    own_words = {item.told_words for item in HitItem.objects.filter(hit__study=own).exclude(told=None)}
    assert own_words <= {f"Read this: {one}!" for one in words}


@pytest.mark.usefixtures("example_corpus")
def test_the_planned_dialogs_are_counted_without_controls() -> None:
    rules = {**DEMO["checkpoints"], **CONTROLS}
    study = create_study({**DEMO, "checkpoints": rules, "analysis": {"planned_dialogs": 18}})
    build_hits(study)
    study.refresh_from_db()

    block, end = planned_until(study) or (0, 0)

    before = HitItem.objects.filter(hit__block=block, position__lt=end)
    assert (block, before.filter(repeats=None).count()) == (1, 8)
    assert before.get(position=end - 1).repeats is None


# --- What their answers count for ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("example_corpus")
@pytest.mark.parametrize("protocol", EVERY)
def test_answers_to_controls_make_no_ratings_and_are_counted_with_the_submission(
    protocol: str, market: MTurkMarket
) -> None:
    study = built(protocol)

    attentive, careless, placing = collected(study, market, attentively, carelessly, by_place)

    assert (attentive.attention_checks, attentive.attention_passed) == (2, 2)
    assert (careless.attention_checks, careless.attention_passed) == (2, 0)
    assert attentive.said_twice == attentive.said_alike > 0
    assert attentive.said_twice == careless.said_twice == careless.said_alike == placing.said_twice
    assert placing.said_alike < placing.said_twice
    assert Answer.objects.count() == 3 * 14
    controls = HitItem.objects.exclude(repeats=None)
    assert not Rating.objects.filter(item__in=controls).exists()
    by_worker = Counter(Rating.objects.values_list("submission", flat=True))
    assert len(set(by_worker.values())) == 1


@pytest.mark.usefixtures("example_corpus")
def test_a_forged_answer_to_a_repeat_changes_no_rating(market: MTurkMarket) -> None:
    def other_the_second_time(worker: Worker, item: HitItem) -> dict[str, Any]:
        if item.repeats is None or item.told is not None:
            return attentively(worker, item)
        return {"areas": {str(place): "bad" for place in range(len(item.cards))}}

    honest, forging = collected(built("areas"), market, attentively, other_the_second_time)

    def ratings(submission: Submission) -> set[tuple[Any, ...]]:
        return set(Rating.objects.filter(submission=submission).values_list("item", "candidate", "card", "value"))

    assert ratings(honest) == ratings(forging)
    assert honest.said_alike == honest.said_twice == 8
    assert forging.said_alike < 8


@pytest.mark.usefixtures("example_corpus")
def test_a_program_that_reads_what_attention_checks_tell_gains_no_points(market: MTurkMarket) -> None:
    study = built("areas")

    reading, careless = collected(study, market, attentively, carelessly)

    design = study.parsed_design
    assert (reading.attention_passed, careless.attention_passed) == (2, 0)
    assert bonus_points(design, reading) == bonus_points(design, careless)
    told = [one for one in HitItem.objects.exclude(told=None) if one.is_checkpoint or one.gold_card is not None]
    assert told == []


@pytest.mark.usefixtures("example_corpus")
def test_an_unanswered_control_keeps_work_from_being_handed_in() -> None:
    study = built("areas")
    put_up(study)
    worker = Worker(study.hits.get(number=0)).open()
    control = worker.hit.items.exclude(repeats=None).first()
    assert control is not None

    dialogs = [one for one in worker.everything() if one["position"] != control.position]

    answer = worker.submit(dialogs).json()
    assert (answer["code"], [one["position"] for one in answer["missing"]]) == ("incomplete", [control.position])


@pytest.mark.usefixtures("example_corpus")
def test_researchers_see_what_controls_told(market: MTurkMarket, researcher: User, client: Client) -> None:
    study = built("areas", attention_checks=1, repeats=1)
    Study.objects.update(owner=researcher)
    client.force_login(researcher)
    attentive, careless = collected(study, market, attentively, carelessly)

    def page(address: str) -> str:
        return " ".join(client.get(f"/studies/demo/{address}", {"market": "local"}).content.decode().split())

    assert "Attention checks obeyed</dt><dd> 1 of 2" in page("monitor/")
    assert "Same answer when asked twice</dt><dd> 8 of 8" in page("monitor/")
    assert "attention checks 0 of 1" in page("workers/")
    shown = page(f"assignments/{careless.assignment_id}/")
    assert "did not answer as told" in shown
    assert "attention check</span>" in shown
    assert "again</span>" in shown
    assert "The worker answered as told." in page(f"assignments/{attentive.assignment_id}/")


@pytest.mark.usefixtures("example_corpus")
def test_a_simulated_crowd_reads_attention_checks_and_agrees_with_itself_as_its_noise_lets_it(
    market: MTurkMarket,
) -> None:
    study = built("areas")
    publish(study, market)
    crowd = Crowd(20, read_truth("demo"), {CAREFUL: 0.5, RANDOM: 0.5}, seed=3)
    simulate(study, crowd, InProcess(), hit_count=6)
    collect(offering_for(study, "local"), market, now())

    careful, at_random = Controls(), Controls()
    for one in controls_by_worker(offering_for(study, "local")).values():
        if one.percent_passed is not None and one.percent_passed > 50:
            careful += one
        else:
            at_random += one

    assert (careful.percent_passed or 0) > 90
    assert (at_random.percent_passed or 0) < 10
    assert (careful.percent_alike or 0) > (at_random.percent_alike or 0)
    assert (careful.percent_alike or 100) < 90
