"""The sentence that answers: who leads, who can't be told apart, what is sure, what it would take; honest always."""

import math
from dataclasses import replace

import pandas as pd
import pytest

from hits.analysing import (
    Origin,
    Pricing,
    Progress,
    Report,
    analyse,
    report_as_text,
    report_of,
    with_progress,
    with_separations,
)
from hits.analysing.report_effort import assumptions
from hits.analysing.results import Results, Separation
from hits.stats import CriterionScale, Estimate, Interval, Plan, half_width
from tests.hits.stats.small_frames import drawn_frame, rated_frame

PRICING = Pricing(4, 3, 10, 50, 0, 312, "USD")
OF_SHARES = Plan("share of best")
BETTER, SAME, ALSO = (0.7, 0.2, 0.1), (0.3, 0.3, 0.4), (0.33, 0.3, 0.37)
INTERIM = Progress(collected=48, planned=240, is_complete=False)


def answer_of(results: Results, variant: str = "") -> str:
    return report_of(results, variant).answer


@pytest.fixture(scope="module")
def three() -> Results:
    return analyse(drawn_frame(seed=2, best=BETTER, second=ALSO, third=SAME), plan=Plan("share of best"))


def test_a_leader_that_the_test_tells_from_all_others_is_better(three: Results) -> None:
    text = answer_of(three)

    assert text.startswith("best leads with ")
    assert "% good: it is better than " in text
    assert "second and third can't be told apart." in text


def test_what_it_would_take_is_said_in_dialogs_and_dollars_with_about() -> None:
    results = analyse(drawn_frame(seed=5, one=ALSO, other=SAME), plan=Plan("share of best"))

    text = answer_of(with_separations(results, PRICING))

    assert "the highest, but can't be told apart from" in text
    assert "dialogs in all (" in text
    assert "about $" in text
    assert "if they differ as much as is seen." in text


def test_until_a_study_is_complete_the_missing_dialogs_are_said_to_begin_at_whole_hits() -> None:
    found = analyse(drawn_frame(seed=5, one=(0.45, 0.3, 0.25), other=SAME), plan=Plan("share of best", tau2=0.02))
    some = Separation(None, "one", "other", 0.1, dialogs_now=40, dialogs=160, cost_cents=2900, currency="USD")
    of_dataset = replace(some, dataset=found.main.comparisons[0].dataset)
    results = replace(found, criteria=(replace(found.main, separations=(of_dataset,)),))
    said = "What is missing is counted from the 40 dialogs of whole HITs: dialogs of HITs that are published but not"

    [table] = results.main.comparisons

    assert said in " ".join(assumptions(table, results.main, INTERIM))
    assert said not in " ".join(assumptions(table, results.main, replace(INTERIM, is_complete=True)))


def test_the_numbers_of_dialogs_are_said_to_be_too_low_where_few_workers_rated() -> None:
    found = analyse(drawn_frame(seed=5, one=ALSO, other=SAME), plan=Plan("share of best"))
    [table] = found.main.comparisons
    some = Separation(table.dataset, "one", "other", 0.1, dialogs_now=40, dialogs=160, cost_cents=2900, currency="USD")
    main, verdicts = replace(found.main, separations=(some,)), replace(INTERIM, is_complete=True)

    def said(workers: float) -> str:
        return " ".join(assumptions(replace(table, effective_workers=workers), main, verdicts))

    assert "too low if as few workers go on" in said(9.7)
    assert "worth that of 9.7." in said(9.7)
    assert "too low" not in said(10.0)


def test_an_answer_about_one_of_several_criteria_begins_with_its_name(three: Results) -> None:
    care = replace(three.main, criterion="care", label="Care & wit")
    report = report_of(replace(three, criteria=(three.main, care)))

    assert [one.main_answers[0].sentences[0].split(":")[0] for one in report.criteria] == ["overall", "Care & wit"]


def test_what_the_planner_cant_say_is_said_to_be_so() -> None:
    same = analyse(drawn_frame(seed=5, one=ALSO, other=SAME), plan=Plan("share of best"))
    assert same.main.comparisons[0].comparisons[0].verdict == "not told apart"
    by_mean = analyse(_five_points(), plan=Plan("mean score"))

    assert "To tell one from other is beyond reach" in answer_of(with_separations(by_mean, PRICING))
    assert "takes about" not in answer_of(same), "ratings from elsewhere have no price"


def test_until_a_study_is_complete_only_the_sequence_speaks(three: Results) -> None:
    plan = Plan("share of best", tau2=0.02)
    interim = with_progress(three, INTERIM, plan)

    text = answer_of(interim)

    assert text.startswith("So far, after 48 of 240 assignments, best is ahead with ")
    assert "leads" not in text
    assert "not decided yet" in text or "holds at every look" in text


def test_what_it_would_take_while_interim_is_by_the_sequence_and_never_less_than_there_is() -> None:
    plan = Plan("share of best", tau2=0.02)
    results = analyse(drawn_frame(seed=5, one=ALSO, other=SAME), plan=plan)
    interim = with_progress(results, INTERIM, plan)

    [one] = with_separations(interim, PRICING, plan).main.separations

    [sequence] = interim.main.sequences
    assert isinstance(sequence.low, float)
    assert isinstance(sequence.high, float)
    assert isinstance(one.dialogs, int)
    assert one.dialogs > one.dialogs_now
    # By hand: the half-width that was seen gives V', and V' shrinks as dialogs are added.
    half = (sequence.high - sequence.low) / 2
    by_dialogs = {number: _half_at(half, one.dialogs_now / number) for number in (one.dialogs // 2, one.dialogs)}
    enough, too_few = by_dialogs[one.dialogs], by_dialogs[one.dialogs // 2]
    assert one.difference < too_few
    assert one.difference == pytest.approx(enough, rel=0.02)  # two digits are said


def test_what_it_would_take_uses_the_sequence_s_variance_of_each_criterion() -> None:
    plan = Plan("share of best", tau2=0.02, tau2_by_criterion={"fluency": 5.0})
    results = analyse(drawn_frame(seed=5, one=ALSO, other=SAME), plan=plan)
    fluency = replace(results, criteria=(replace(results.main, criterion="fluency"),))

    def dialogs_needed(of: Results, plan: Plan) -> object:
        return with_separations(with_progress(of, INTERIM, plan), PRICING, plan).main.separations[0].dialogs

    alone = dialogs_needed(results, Plan("share of best", tau2=5.0))
    assert dialogs_needed(fluency, plan) == alone != dialogs_needed(results, plan)


def _half_at(half: float, share: float) -> float:
    """What has to be exceeded with `share` of the variance that gave this half-width, for a chance of 80 %."""
    seen = next(step / 1e6 for step in range(1, 10**6) if half_width(step / 1e6, 0.02) >= half)
    return half_width(seen * share, 0.02) + 0.8416 * math.sqrt(seen * share)


def test_what_it_would_take_says_what_it_assumes() -> None:
    plan = Plan("share of best", tau2=0.02)
    results = analyse(drawn_frame(seed=5, one=ALSO, other=SAME), plan=plan)

    complete = _cautions_of(with_separations(with_progress(results, Progress(), plan), PRICING, plan))
    interim = _cautions_of(with_separations(with_progress(results, INTERIM, plan), PRICING, plan))

    assumed = "for a chance of 80 %, by further workers as careful, and of as different tastes, as {}; the cost is at"
    assert any(assumed.format("the planner expects") in caution for caution in complete)
    assert any(assumed.format("those so far") in caution for caution in interim)


def test_an_interim_answer_says_nothing_of_tests_and_why_there_is_no_sequence() -> None:
    plan = Plan("share of best", tau2=0.02)
    results = _by_three_workers(plan)
    assert any("test" in caution or "generalise" in caution for caution in _cautions_of(results))
    interim = with_separations(with_progress(results, INTERIM, plan), PRICING, plan)

    text = answer_of(interim)

    assert "Nothing can be decided yet: it takes the work of 10 equally busy workers, and there is that of 2.8." in text
    assert "not decided yet" not in text
    assert "takes about" not in text
    assert _cautions_of(interim) == ()


def _cautions_of(results: Results) -> tuple[str, ...]:
    return report_of(results).criteria[0].answers[0].cautions


def test_labels_without_an_order_are_not_ranked() -> None:
    frame = drawn_frame(seed=2, best=BETTER, second=ALSO, third=SAME)
    labels = CriterionScale(("good", "okay", "bad"), (3, 2, 1), is_nominal=True)

    text = answer_of(analyse(frame, scales={"overall": labels}))

    assert text.startswith("The values (good, okay and bad) have no order, so nothing is ranked")
    assert "highest" not in text


def test_one_model_and_no_rating_are_not_called_leaders() -> None:
    text = answer_of(analyse(rated_frame(("1", "w", "A", "good"), ("2", "v", "A", "bad"))))

    assert "No other model was rated, so nothing is compared." in text
    assert "leads" not in text


def test_pairs_that_were_not_compared_are_never_called_equal() -> None:
    text = answer_of(analyse(rated_frame(("1", "w", "A", "good"), ("2", "w", "B", "bad"))))

    assert "can't be compared with the other models: no worker rated both in the same dialog" in text
    assert "told apart" not in text


def test_few_workers_are_said_with_the_answer(three: Results) -> None:
    assert any("workers" in caution for caution in report_of(_by_three_workers()).criteria[0].answers[0].cautions)


def test_what_was_not_planned_is_called_exploratory() -> None:
    frame = drawn_frame(seed=2, best=BETTER, second=ALSO, third=SAME)

    text = answer_of(analyse(frame, plan=Plan("share of best", (("second", "third"),))))

    assert "was not planned, so it is exploratory" in text


def test_a_quoted_answer_of_simulated_ratings_says_so(three: Results) -> None:
    simulated = replace(three, origin=Origin(simulation=5))

    assert answer_of(simulated).startswith("Simulated: not for publication. best leads")


def test_each_dataset_has_an_answer_and_only_the_planned_one_is_quoted() -> None:
    report = _two_datasets()
    [one] = report.criteria

    assert [answer.dataset for answer in one.answers] == [None, "easy", "hard"]
    assert [answer.is_primary for answer in one.answers] == [True, False, False]
    assert one.answers[1].text.startswith("In easy alone, which is exploratory: ")
    assert "In easy" not in report.answer


def test_the_terminal_prints_the_answer_first(three: Results) -> None:
    lines = list(report_as_text(report_of(three)))

    assert lines[0].startswith("best leads with ")


def test_all_tables_have_the_leaderboards_order(three: Results) -> None:
    [one] = report_of(three).criteria
    *models, human = one.leaderboards[0].rows
    order = [row.head.names[0] for row in models]

    assert order[0] == "best"
    assert [row.head.rank for row in models] == [1, 2, 3]
    assert human.head.is_human
    for key in ("shares", "ranking"):
        assert [row.head.names[0] for row in one.section(key).tables[0].rows] == order


def test_every_part_has_one_order_of_models_and_pairs_turn_with_it() -> None:
    """In the dataset "hard" the order is the other way round, and the design names the best model last."""
    frames = [drawn_frame(seed=seed, A=SAME, Z=BETTER) for seed in (1, 2)]
    hard = drawn_frame(seed=3, A=BETTER, Z=SAME).head(400)
    for number, (frame, name) in enumerate(zip([*frames, hard], ("easy", "easy", "hard"), strict=True)):
        frame["dialog"] += 10_000 * number
        frame["dataset"] = name
    frame = pd.concat([*frames, hard], ignore_index=True)
    frame["value"] = frame["value"].astype(hard["value"].dtype)
    raw = analyse(frame, plan=Plan("share of best"))
    [one] = report_of(raw).criteria

    ranks = [[row.head.rank for row in table.rows if not row.head.is_human] for table in one.leaderboards]
    assert ranks == [[1, 2], [1, 2], [2, 1]]
    models = [row.head.names[0] for table in one.leaderboards for row in table.rows if not row.head.is_human]
    assert models == ["Z", "A"] * 3
    assert [row.head.names[-1] for row in one.section("slices").tables[0].rows] == ["Z", "A"] * 2
    assert [row.head.names[0] for row in one.section("comparisons").tables_of("letters")[2].rows] == ["Z", "A"]
    [pair] = one.section("comparisons").tables[0].rows
    [before] = raw.main.comparisons[0].comparisons
    difference, _, superiority, *_ = pair.cells
    assert (pair.head.names, before.first, before.second) == (("Z", "A"), "A", "Z")
    assert isinstance(before.difference, Estimate)
    assert isinstance(before.difference.interval, Interval)
    assert isinstance(before.superiority, Estimate)
    assert difference.number == -before.difference.value > 0
    assert isinstance(difference.interval, Interval)
    assert difference.interval.low == -before.difference.interval.high
    assert superiority.number == pytest.approx(1 - before.superiority.value)


def _two_datasets() -> Report:
    easy, hard = (drawn_frame(seed=seed, A=BETTER, B=SAME) for seed in (1, 2))
    hard["dialog"] += 10_000
    frame = pd.concat([easy.assign(dataset="easy"), hard.assign(dataset="hard")], ignore_index=True)
    frame["value"] = frame["value"].astype(easy["value"].dtype)
    return report_of(analyse(frame, plan=Plan("share of best")))


def _five_points() -> pd.DataFrame:
    frame = drawn_frame(seed=5, one=ALSO, other=SAME)
    five = ["5", "4", "3", "2", "1"]
    values = [five[(score * 7 + row) % 5] for row, score in enumerate(frame["score"])]
    return frame.assign(value=pd.Categorical(values, five), score=[int(value) for value in values])


def _by_three_workers(plan: Plan = OF_SHARES) -> Results:
    frame = drawn_frame(seed=2, best=BETTER, second=ALSO)
    codes = frame["worker"].astype("category").cat.codes % 3
    frame["worker"] = [f"W{code}" for code in codes]
    return analyse(frame.drop_duplicates(["worker", "dialog", "generator"]), plan=plan)
