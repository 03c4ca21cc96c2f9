"""Workers who go for bonus points and times instead of for the work, through the real pages and marketplace."""

import random
from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from hits.access import pseudonym
from hits.budgeting.amounts_due import bonus_points
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.frames import study_frames
from hits.models import Answer, Assignment, Payment, Study, Submission, offering_for
from hits.paying import pay
from hits.screening import find_flags
from tests.hits.conftest import market
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.voted import offered

__all__ = ["market"]

AREAS = ("good", "okay", "bad")
TRIED = 12


@pytest.fixture
def published(demo_study: Study, market: MTurkMarket) -> Study:
    publish(demo_study, market)
    return demo_study


def checkpoints(worker: CrowdWorker) -> list[int]:
    return [position for position, dialog in enumerate(worker.data["dialogs"]) if dialog["has_bonus"]]


def points_of(worker: CrowdWorker) -> int:
    submission = Submission.objects.get(assignment=worker.assignment)
    return bonus_points(worker.hit.study.parsed_design, submission)


def flags(study: Study) -> dict[str, set[str]]:
    """By worker: which of the rules that the study does not name would find them."""
    frames = study_frames(offering_for(study, "local"))
    found: dict[str, set[str]] = {}
    for rule, findings in find_flags(frames, []).items():
        for finding in findings:
            found.setdefault(finding.worker, set()).add(rule)
    return found


def validate_everything_as_good_and_then_sort_at_random(worker: CrowdWorker, dice: random.Random) -> int:
    """How many human replies stand in good or okay at the end, by chance."""
    worker.win_all_bonuses()
    dialogs = worker.everything()
    for dialog in dialogs:
        dialog["areas"] = {place: dice.choice(AREAS) for place in dialog["areas"]}
    by_chance = sum(
        dialogs[position]["areas"][str(worker.gold_place(position))] in ("good", "okay")
        for position in checkpoints(worker)
    )
    worker.hand_in(worker.submit(dialogs).json()["fields"])
    return by_chance


def test_validating_everything_as_good_and_sorting_at_random_wins_by_chance_only_and_is_found(
    published: Study, market: MTurkMarket
) -> None:
    dice = random.Random(3)
    pairs = [(hit, account) for account in people() for hit in published.hits.all()][:TRIED]
    by_chance = {
        worker: validate_everything_as_good_and_then_sort_at_random(worker, dice)
        for worker in (CrowdWorker(hit, account) for hit, account in pairs)
    }
    collect(offering_for(published, "local"), market, now())
    pay(offering_for(published, "local"), market, now)

    assert {worker: points_of(worker) for worker in by_chance} == by_chance
    assert sum(by_chance.values()) < 3 * TRIED
    paid = Payment.objects.filter(kind=Payment.Kind.BONUS).paid().count()
    assert paid == sum(points == 3 for points in by_chance.values()) < TRIED
    found = flags(published)
    for worker in by_chance:
        assert "moved_after_check" in found[pseudonym(published, worker.worker_id)]


def test_who_sorts_well_and_never_validates_wins_all_points_and_the_bonus(
    published: Study, market: MTurkMarket
) -> None:
    worker = CrowdWorker(published.hits.get(number=0), people()[0])
    dialogs = worker.everything("bad")
    for position in checkpoints(worker):
        dialogs[position]["areas"][str(worker.gold_place(position))] = "okay"

    worker.hand_in(worker.submit(dialogs).json()["fields"])
    collect(offering_for(published, "local"), market, now())
    pay(offering_for(published, "local"), market, now)

    assert points_of(worker) == 3
    assert Payment.objects.filter(kind=Payment.Kind.BONUS).paid().count() == 1
    rules = flags(published).get(pseudonym(published, worker.worker_id), set())
    assert not rules & {"too_few_points", "first_attempt_failures", "moved_after_check"}


def test_without_a_check_the_browser_never_learns_whether_a_placement_passes(published: Study) -> None:
    """Two workers who sort the same dialogs the other way round get the same words, but for what they said."""
    first, second = (CrowdWorker(published.hits.get(number=0), account) for account in people()[:2])
    position = checkpoints(first)[0]

    said = [
        [worker.save(position, worker.all_in(position, area)).json(), worker.open().data["dialogs"][position]["bonus"]]
        for worker, area in ((first, "good"), (second, "bad"))
    ]

    assert said[0] == said[1]
    assert said[0][1] == {"attempts": 0, "attempts_left": None, "checked": None, "passed": False, "is_lost": False}
    assert "points" not in first.data


def test_times_that_a_browser_makes_up_count_no_more_than_the_clocks_allow(
    published: Study, market: MTurkMarket
) -> None:
    worker = CrowdWorker(published.hits.get(number=0), people()[0])
    claimed = [{**dialog, "active_ms": 450_000} for dialog in worker.everything()]

    worker.hand_in(worker.submit(claimed).json()["fields"])
    collect(offering_for(published, "local"), market, now())

    assert set(Answer.objects.values_list("active_ms", flat=True)) == {450_000}  # what was told stays
    frames = study_frames(offering_for(published, "local"))
    assert frames.answers["active_ms"].sum() < 10_000
    assert "too_fast_per_dialog" in flags(published)[pseudonym(published, worker.worker_id)]


@pytest.mark.parametrize(("waits_before", "expected"), [(True, 0), (False, 500)])
def test_waiting_before_the_page_is_opened_or_after_helps_only_as_far_as_the_page_was_open(
    published: Study, market: MTurkMarket, waits_before: bool, expected: int
) -> None:
    """The marketplace counts 500 seconds in both cases; our page was open for none or for all of them."""
    worker = CrowdWorker(published.hits.get(number=0), people()[0])
    claimed = [{**dialog, "active_ms": 450_000} for dialog in worker.everything()]
    worker.hand_in(worker.submit(claimed).json()["fields"])
    collect(offering_for(published, "local"), market, now())
    submission = Submission.objects.get()
    submission.accepted_at = submission.submitted_at - timedelta(seconds=500)
    submission.save()
    if not waits_before:
        Assignment.objects.update(opened_at=submission.accepted_at, held_at=submission.accepted_at)

    answers = study_frames(offering_for(published, "local")).answers

    assert answers["active_ms"].sum() / 1000 == pytest.approx(expected, abs=5)
    assert answers["active_ms"].max() - answers["active_ms"].min() <= 1  # none is trusted more than another


def test_where_the_human_reply_stood_so_far_does_not_tell_where_it_stands_next(
    example_corpus: None, researcher: User, market: MTurkMarket
) -> None:
    """Whose sides were balanced, too, would know the last checkpoint of a HIT from the two before."""
    offering = offered(market, analysis={})

    for account in people()[:3]:
        for hit in offering.study.hits.all():
            CrowdWorker(hit, account)

    for one in Assignment.objects.select_related("hit"):
        gold = {item.position for item in one.hit.items.filter(is_checkpoint=True)}
        assert len(gold) == 3
        assert not gold & set(one.turned)
    assert any(Assignment.objects.values_list("turned", flat=True))
