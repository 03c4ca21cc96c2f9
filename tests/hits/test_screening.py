"""A study's work is screened by its own rules or by others, again, and undone; nothing is lost by it."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from evalplatform.errors import EvalPlatformError
from hits.access import pseudonym, worker_ids
from hits.analysing.study_analysis import frame_to_analyse
from hits.budgeting.amounts_due import bonus_points
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.errors import InvalidStudy
from hits.frames import study_frames
from hits.frames.submissions_frame import submissions_frame
from hits.models import (
    Answer,
    Assignment,
    BonusCheck,
    Event,
    Exclusion,
    Hit,
    Offering,
    Rating,
    ScreeningRun,
    Study,
    Submission,
    offering_for,
)
from hits.monitoring import assignment_rows, passed_by_worker
from hits.screening import first_rules, kept_mask, parse_rules, rules_in, screen, undo_screening, unscreened_count
from hits.screening.paper_rules import SameAnswer, TooFewPoints
from tests.conftest import WriteFile
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.hits.frames import Work, frames_of

BEGIN = datetime(2026, 11, 16, 8, tzinfo=UTC)
AREAS = ("good", "okay", "bad")


def hand_in(
    study: Study,
    worker: str,
    number: int = 0,
    area: Callable[[int, int], str] = lambda position, card: AREAS[(3 * position + card) % 3],
    minutes: float = 15,
    points: int = 3,
    environment: str = "local",
) -> Submission:
    """As if it had been worked on, confirmed and collected."""
    hit, end = Hit.objects.get(study=study, number=number), BEGIN + timedelta(minutes=minutes)
    assignment = Assignment.objects.create(
        hit=hit, offering=offering_for(study, environment), crowd_assignment_id=f"{worker}-{number}",
        crowd_worker_id=worker, rotation=0, opened_at=BEGIN, held_at=BEGIN, submitted_at=end,
    )  # fmt: skip
    submission = Submission.objects.create(
        assignment=assignment, status="Submitted", origin="rehearsal", accepted_at=BEGIN, submitted_at=end,
        answer_xml="", collected_at=BEGIN,
    )  # fmt: skip
    answers: list[Answer] = []
    ratings: list[Rating] = []
    checks: list[BonusCheck] = []
    for item in hit.items.all():
        areas = {str(card): area(item.position, card) for card in range(len(item.cards))}
        won = len(checks) < points
        if item.is_checkpoint:
            gold = item.gold_card
            areas[str(gold)] = "good" if won else "bad"
        about = {"assignment": assignment, "item": item, "value": {"areas": areas}}
        answers.append(Answer(**about, card_order=list(range(len(areas))), active_ms=minutes * 5000, saved_at=end))
        if item.is_checkpoint:
            checks.append(BonusCheck(**about, attempt=1, is_passed=won, active_ms=0, checked_at=BEGIN))
        for number_of_card, card in enumerate(item.cards):
            for candidate in card.writers:
                where = {"card": number_of_card, "place": number_of_card, "value": areas[str(number_of_card)]}
                ratings.append(Rating(submission=submission, item=item, candidate_id=candidate, **where))
    Answer.objects.bulk_create(answers)
    BonusCheck.objects.bulk_create(checks)
    Rating.objects.bulk_create(ratings)
    return submission


@pytest.fixture
def worked(demo_study: Study) -> Study:
    """Four workers, of whom one always says good, one is hasty in one of two HITs, and one was unlucky once."""
    hand_in(demo_study, "SAME", 0, lambda position, card: "good")
    hand_in(demo_study, "HASTY", 0, minutes=4, points=1)
    hand_in(demo_study, "HASTY", 1)
    hand_in(demo_study, "FINE", 0)
    hand_in(demo_study, "FINE", 1, points=0)
    hand_in(demo_study, "SAME", 2, lambda position, card: "good", environment="sandbox")
    return demo_study


def rows(study: Study) -> list[tuple[str, str, int | None]]:
    """Of the current run: which rule, about whom."""
    found = Exclusion.objects.filter(run=ScreeningRun.objects.current(offering_for(study, "local")))
    return [(one.rule, one.crowd_worker_id, one.submission_id) for one in found]


# --- The frames ------------------------------------------------------------------------------------------------------


def test_the_frames_say_what_really_was_collected(demo_study: Study, market: MTurkMarket) -> None:
    publish(demo_study, market)
    hit = demo_study.hits.get(items__dialog__external_id="emotional-017")  # two models wrote the same reply
    worker = CrowdWorker(hit, people()[0])
    worker.save(0, worker.all_in(0, "okay"), active_ms=4000, hidden_ms=1000)
    worker.open()
    worker.win_all_bonuses()
    worker.finish("okay")
    collect(offering_for(demo_study, "local"), market, now())

    frames = study_frames(offering_for(demo_study, "local"))

    ratings = Rating.objects.select_related("item__dialog__dataset", "candidate__generator")
    expected = [
        (
            one.submission_id, one.item.dialog.dataset.name, one.item.dialog.external_id, one.item.position, one.card,
            one.place, one.candidate.generator.name if one.candidate else None, one.candidate is None, one.value, 2,
        )
        for one in ratings.order_by("submission", "item__position", "card", "candidate")
    ]  # fmt: skip
    names = ["submission", "dataset", "external_id", "position", "card", "place", "generator", "is_gold", "value"]
    table = frames.ratings.astype({"generator": object})[[*names, "score"]]
    assert [tuple(row) for row in table.where(table.notna(), None).itertuples(index=False)] == expected
    assert len(frames.cards) == len(frames.ratings) - 1
    assert len(frames.answers) == 10
    submission = frames.submissions.iloc[0]
    design = demo_study.parsed_design
    assert submission["worker"] == pseudonym(demo_study, worker.worker_id)
    assert submission["points"] == bonus_points(design, Submission.objects.get()) == 3
    measured = ("dialogs", "checkpoints", "first_points", "attempts", "passed_checks", "moved_checks")
    assert [submission[name] for name in measured] == [10, 3, 3, 3, 3, 3]  # from good to okay after the checks
    active, hidden = submission["active_seconds"], submission["hidden_seconds"]
    assert active == submission["work_seconds"] < 4  # our own clock: the browser said more than has passed
    assert hidden == pytest.approx(active / 4, abs=0.001)


@pytest.mark.usefixtures("worked")
def test_frames_and_payments_take_the_same_check_for_the_first_where_that_one_is_lost() -> None:
    """As in a database that was restored."""
    study = Study.objects.get()
    study.design["checkpoints"]["counts"] = "first check"
    study.save()
    lost = BonusCheck.objects.filter(assignment__crowd_assignment_id="FINE-0")
    lost.update(attempt=2, is_passed=False)

    frame = submissions_frame(offering_for(study, "local"))

    design = study.parsed_design
    paid = {one.pk: bonus_points(design, one) for one in Submission.objects.filter(pk__in=frame["submission"])}
    assert dict(zip(frame["submission"], frame["points"], strict=True)) == paid
    assert paid[Submission.objects.get(assignment__crowd_assignment_id="FINE-0").pk] == 3


@pytest.mark.usefixtures("worked")
@pytest.mark.parametrize("counts", ["first check", "final"])
def test_the_placement_that_the_study_counts_makes_the_points(counts: str) -> None:
    study = Study.objects.get()
    study.design["checkpoints"]["counts"] = counts
    study.save()
    found_by_trial = BonusCheck.objects.filter(assignment__crowd_assignment_id="FINE-0")
    for check in found_by_trial.all():
        check.pk, check.attempt = None, 2
        check.save()
    found_by_trial.filter(attempt=1).update(is_passed=False)

    frame = submissions_frame(offering_for(study, "local"))

    by_trial, moved_away = (frame[frame["worker"] == pseudonym(study, "FINE")].iloc[number] for number in (0, 1))
    names = ["points", "first_points", "attempts", "passed_checks"]
    assert list(by_trial[names]) == [0 if counts == "first check" else 3, 0, 6, 3]
    assert list(moved_away[names]) == [0, 0, 3, 0]
    design = study.parsed_design
    for key, points in zip(frame["submission"], frame["points"], strict=True):
        assert bonus_points(design, Submission.objects.get(pk=int(key))) == points
    passed = passed_by_worker(offering_for(study, "local"))
    assert {name: one.won for name, one in passed.items()} == dict(
        zip(("SAME", "HASTY", "FINE"), (3, 4, 0 if counts == "first check" else 3), strict=True)
    )
    rows = {one.assignment.crowd_assignment_id: one.points for one in assignment_rows(study, study_assignments(study))}
    assert rows == {"SAME-0": 3, "HASTY-0": 1, "HASTY-1": 3, "FINE-0": by_trial["points"], "FINE-1": 0}


def study_assignments(study: Study) -> list[Assignment]:
    return list(Assignment.objects.filter(offering=offering_for(study, "local")).select_related("submission"))


def test_built_frames_have_the_columns_and_types_of_real_ones(worked: Study) -> None:
    real = study_frames(offering_for(worked, "local"))
    built = frames_of(Work("w", ["gob", "ggg"]))

    for ours, whole in ((built.ratings, real.ratings), (built.submissions, real.submissions)):
        theirs = whole.drop(columns="origin", errors="ignore")  # only the database knows it
        assert list(ours.columns) == list(theirs.columns)
        assert list(ours.dtypes.astype(str)) == list(theirs.dtypes.astype(str))


def test_frames_of_no_work_have_the_same_columns(worked: Study) -> None:
    empty, full = study_frames(offering_for(worked, "production")), study_frames(offering_for(worked, "local"))

    assert (len(empty.ratings), len(empty.submissions)) == (0, 0)
    assert list(empty.ratings.dtypes.astype(str)) == list(full.ratings.dtypes.astype(str))
    assert list(empty.submissions.columns) == list(full.submissions.columns)


def test_frames_take_few_queries_and_hold_no_workers_id(worked: Study, django_assert_max_num_queries: object) -> None:
    offering = offering_for(worked, "local")
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        frames = study_frames(offering)

    text = frames.ratings.to_csv() + frames.submissions.to_csv()
    assert not any(name in text for name in ("SAME", "HASTY", "FINE"))


def test_pseudonyms_are_stable_in_a_study_and_differ_between_studies(worked: Study) -> None:
    other = Study.objects.create(name="other", design={})

    names = worker_ids(offering_for(worked, "local"))

    assert sorted(names.values()) == ["FINE", "HASTY", "SAME"]
    assert all(pseudonym(worked, worker_id) == name for name, worker_id in names.items())
    assert pseudonym(other, "FINE") not in names


# --- Screening -------------------------------------------------------------------------------------------------------


def test_the_papers_rules_leave_out_workers_and_assignments_and_nothing_is_lost(worked: Study) -> None:
    before = (Submission.objects.count(), Rating.objects.count())

    screened = screen(offering_for(worked, "local"), now())

    unlucky = Submission.objects.get(assignment__crowd_assignment_id="FINE-1").pk
    hasty = Submission.objects.get(assignment__crowd_assignment_id="HASTY-0").pk
    assert rows(worked) == [
        ("same_answer", "SAME", None),
        ("hasty_without_points", "HASTY", None),
        ("too_few_points", "", hasty),
        ("too_few_points", "", unlucky),
    ]
    assert Exclusion.objects.all()[0].evidence == {"share": 1.0, "answer": "all good", "dialogs": 10}
    assert [step.left.answers for step in screened.funnel.steps] == [40, 20, 10]
    assert (screened.run.is_frozen_rules, screened.is_new) == (True, True)
    assert (Submission.objects.count(), Rating.objects.count()) == before


def test_screening_again_changes_nothing_until_there_is_more_work(worked: Study) -> None:
    first = screen(offering_for(worked, "local"), now())
    again = screen(offering_for(worked, "local"), now())

    assert (again.run, again.is_new) == (first.run, False)
    assert (ScreeningRun.objects.count(), Event.objects.count()) == (1, 1)

    hand_in(worked, "NEW", 2)
    assert unscreened_count(first.run) == 1
    later = screen(offering_for(worked, "local"), now())
    assert later.is_new
    assert later.funnel.received.assignments == 6
    assert unscreened_count(later.run) == 0


def test_other_rules_are_marked_as_exploratory_and_can_be_undone(worked: Study, researcher: User) -> None:
    frozen = screen(offering_for(worked, "local"), now()).run
    other = screen(offering_for(worked, "local"), now(), [TooFewPoints(points=3)], researcher).run

    assert (frozen.is_frozen_rules, other.is_frozen_rules) == (True, False)
    assert {rule for rule, _, _ in rows(worked)} == {"too_few_points"}

    assert undo_screening(offering_for(worked, "local"), now(), researcher) == frozen
    assert len(rows(worked)) == 4
    assert undo_screening(offering_for(worked, "local"), now()) is None
    with pytest.raises(EvalPlatformError, match="no screening of demo on the local marketplace"):
        undo_screening(offering_for(worked, "local"), now())
    assert Exclusion.objects.filter(run=other).exists()
    assert [event.actor for event in Event.objects.order_by("pk")] == [None, researcher, researcher, None]
    assert "exploratory" in Event.objects.order_by("pk")[1].text


def test_what_is_kept_is_said_once_in_the_frame_the_rows_and_the_numbers(worked: Study) -> None:
    assert kept_mask(frame_to_analyse(offering_for(worked, "local"))).all()

    screened = screen(offering_for(worked, "local"), now())

    frame = frame_to_analyse(offering_for(worked, "local"))
    ratings = Rating.objects.confirmed(offering_for(worked, "local"))
    assert kept_mask(frame).sum() == ratings.kept(screened.run).count() == screened.funnel.kept.ratings
    assert ratings.left_out(screened.run).count() == ratings.count() - screened.funnel.kept.ratings
    assert rules_in(frame) == ["same_answer", "hasty_without_points", "too_few_points"]
    assert Counter(first_rules(screened.run).values()) == {
        "same_answer": 1,
        "hasty_without_points": 2,
        "too_few_points": 1,
    }
    without = frame[kept_mask(frame, ["same_answer", "too_few_points"])]
    assert without["submission"].nunique() == 2  # the hasty worker's other HIT is back; that without points is not
    late = hand_in(worked, "SAME", 3)
    assert first_rules(screened.run)[late.pk] == "same_answer"


def test_only_a_study_with_hits_is_screened_and_by_rules_that_make_sense(worked: Study) -> None:
    with pytest.raises(EvalPlatformError, match="has no HITs yet"):
        screen(Offering(study=Study(name="draft", design=worked.design), environment="local"), now())
    with pytest.raises(InvalidStudy, match="4 points can never be won"):
        parse_rules(worked, {"screening": [{"rule": "too_few_points", "points": 4}]})
    assert parse_rules(worked, {"screening": [{"rule": "same_answer"}]}) == [SameAnswer()]


# --- The command -----------------------------------------------------------------------------------------------------


def run_command(*arguments: object) -> str:
    output = StringIO()
    call_command("screen_study", "demo", *map(str, arguments), stdout=output)
    return output.getvalue()


def test_the_command_prints_the_funnel_and_the_evidence(worked: Study, write_lines: WriteFile) -> None:
    output = run_command("--flags")

    lines = {" ".join(line.split()) for line in output.splitlines()}
    assert "received 3 5 50 215" in lines
    assert "- same_answer (share 0.95, counts dialogs) -1 -1 -10 -43" in lines
    assert "- too_few_points (points 2) -1 -1 -10 -43 (1 more were out already)" in lines
    assert "kept 1 1 10 43" in lines
    assert f"{pseudonym(worked, 'SAME')} same_answer: share 1, answer all good, dialogs 10" in lines
    assert f"{pseudonym(worked, 'SAME')} straight_lines: share 1, dialogs 10" in lines
    assert "HASTY" not in output
    assert "Nothing has changed" in run_command()

    rules = write_lines("[[screening]]", 'rule = "too_few_points"', "points = 3", name="rules.toml")
    assert "EXPLORATORY" in run_command("--rules", rules)
    assert "by the study's own rules" in run_command("--undo")
    wrong = write_lines("[[screening]]", 'rule = "vibes"', name="wrong.toml")
    with pytest.raises(CommandError, match=r"screening\.1: 'vibes' is no screening rule"):
        run_command("--rules", wrong)
