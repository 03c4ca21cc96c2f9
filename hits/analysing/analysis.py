"""Computes all results from a ratings frame: it decides which statistics are computed, and from which ratings.

The frame is that of hits.frames, or one with fewer columns (hits.elsewhere). It must have `worker`, `dialog`,
`dataset`, `generator`, `value` and `score`. It may have `card`, `place`, `position`, `wave`, `submitted_at`,
`active_ms` and `is_checkpoint`, and these:

    criterion             category  what workers were asked about; without it, all ratings are about one criterion
    opponent              category  where workers compared two replies, the generator of the other one
    emotion, turns        category, int16  the dialog's emotion, missing where it has none, and its number of turns
    label                 category  the reply's predicted emotion or intent; missing where there is none
    metric_NAME           float     an automatic metric of the reply; NaN where there is none
    excluded_by_RULE      bool      True where this screening rule leaves the rating out (hits.screening.keeping)
    origin                category  where the submission came from (Submission.Origin), with `submission`
    is_fourth_vote        bool      True where the vote was asked for because three others differed
    offering              category  where several offerings are put together, the marketplace of each; with `submission`
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from hits.analysing.chosen_rows import ChosenRows
from hits.analysing.frame_origins import offerings_in, origin_in
from hits.analysing.results import CriterionResults, Results, Size, Variant
from hits.screening import RULES, fourth_votes_mask, kept_mask, rules_in
from hits.stats import (
    HUMAN,
    Agreement,
    CodedRatings,
    CriterionScale,
    Labels,
    Levels,
    Plan,
    ShareRow,
    agreement,
    code_ratings,
    compare_generators,
    count_votes,
    criteria_correlations,
    dependences,
    find_true_values,
    human_row,
    label_distributions,
    level_differences,
    metric_correlations,
    rank_generators,
    rows_by_dataset,
    slice_rows,
    table_rows,
    worker_effect,
)

Mask = npt.NDArray[np.bool_]

METRIC_PREFIX = "metric_"
OVERALL = "overall"
ALL_RULES, NO_RULE = "all rules", "no rule"


Scales = Mapping[str, CriterionScale]  # by the criterion's name


Tell = Callable[[float, str], None]  # how much is done, from 0 to 1, and what is being done


def analyse(
    frame: pd.DataFrame,
    seed: int = 1,
    scales: Scales | None = None,
    plan: Plan | None = None,
    tell: Tell | None = None,
) -> Results:
    """Compute the results. Give `scales` for a study, since each criterion may have values and bins of its own, and
    the `plan` of its design; without one, all pairs are primary, and their mean scores are compared. `tell` hears how
    far it is."""
    known = scales or {}
    count = max(1, len(frame["criterion"].astype("category").cat.categories) if "criterion" in frame else 1)
    criteria = []
    for index, (name, part) in enumerate(by_criterion(frame, known)):
        tell_part = _tell_part(tell, index, count, name)
        criteria.append(_analyse_criterion(name, part, seed, plan or Plan(), known.get(name), tell_part))
        del part
    return Results(_with_halo(criteria, frame), seed, origin_in(frame), offerings=tuple(offerings_in(frame)))


def _with_halo(criteria: Sequence[CriterionResults], frame: pd.DataFrame) -> tuple[CriterionResults, ...]:
    names = [one.criterion for one in criteria if not one.is_nominal]
    if len(names) < 2:
        return tuple(criteria)
    found = criteria_correlations(frame, kept_mask(frame), names)
    return tuple(
        replace(one, halo=tuple(line for line in found if line.criterion == one.criterion)) for one in criteria
    )


def _tell_part(tell: Tell | None, index: int, parts: int, name: str) -> Tell:
    def tell_part(share: float, what: str) -> None:
        if tell is not None:
            tell((index + share) / parts, f"{name}: {what}" if parts > 1 else what)

    return tell_part


def by_criterion(frame: pd.DataFrame, scales: Scales) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the ratings of each criterion: one by one, since all of them are a copy."""
    names = [str(name) for name in frame["criterion"].astype("category").cat.categories] if "criterion" in frame else []
    if len(names) <= 1:  # there is nothing to split
        yield names[0] if names else OVERALL, frame
        return
    for name in names:
        yield name, _of_criterion(frame, name, scales.get(name))


def _of_criterion(frame: pd.DataFrame, name: str, scale: CriterionScale | None) -> pd.DataFrame:
    part = frame[(frame["criterion"] == name).to_numpy()]
    return part.assign(value=part["value"].cat.set_categories(list(scale.values))) if scale is not None else part


def _analyse_criterion(
    criterion: str, frame: pd.DataFrame, seed: int, plan: Plan, scale: CriterionScale | None, tell: Tell
) -> CriterionResults:
    tell(0.0, "counting")
    found = _analyse_kept(criterion, frame, seed, plan, scale, tell)
    rules = tuple(rules_in(frame))
    if not rules:
        return found
    tell(0.8, "trying other rules")
    with_all = Variant(
        ALL_RULES,
        rules,
        found.size,
        found.table,
        found.agreement[0],
        found.rankings[0],
        found.comparisons,
        found.planned_table,
    )
    others = _other_variants(code_ratings(frame, scale), frame, seed, plan, criterion)
    return replace(found, variants=(with_all, *others))


def _analyse_kept(
    criterion: str,
    frame: pd.DataFrame,
    seed: int,
    plan: Plan,
    scale: CriterionScale | None,
    tell: Tell,
) -> CriterionResults:
    """Analyse what all rules together keep."""
    everything, is_kept, is_planned = code_ratings(frame, scale), kept_mask(frame), planned_mask(frame, plan)
    calibration = tuple(_calibration_rows(everything, kept_mask(frame, _rules_of_no_points(frame))))
    ratings, kept = everything.of(is_kept), ChosenRows(frame, is_kept)
    tested, tested_rows = (
        (ratings, kept)
        if is_planned.all()
        else (everything.of(is_kept & is_planned), ChosenRows(frame, is_kept & is_planned))
    )
    fourth = everything.of(fourth_votes_mask(frame))
    del everything  # a copy of all ratings, which other rules will need again, but not the next steps
    table, planned_table = _tables(ratings, tested)
    tell(0.15, "ranking")
    rankings = tuple(rank_generators(part, name) for name, part in _split_by_dataset(tested.by_generators))
    tell(0.3, "measuring agreement")
    agreed = tuple(_measure_agreement(_split_by_dataset(ratings.by_generators)))
    tell(0.4, "comparing")
    comparisons = tuple(compare_generators(tested, seed, plan, criterion))
    tell(0.55, "finding true values, and what ratings depend on")
    offerings = _offering_levels(kept)
    return CriterionResults(
        criterion=criterion,
        is_comparison=ratings.opponent is not None,
        size=size_of(ratings, kept),
        datasets=ratings.datasets,
        generators=ratings.generators,
        values=ratings.values,
        table=table,
        comparisons=comparisons,
        rankings=rankings,
        agreement=agreed,
        true_values=find_true_values(ratings),
        dependences=tuple(dependences(tested_rows, tested, seed)),
        worker_effect=worker_effect(tested, seed),
        labels=tuple(_label_shares(kept, ratings)),
        metrics=tuple(metric_correlations(ratings, _metric_columns(kept, ratings), seed)),
        calibration=calibration,
        variants=(),
        slices=tuple(slice_rows(ratings, _slice_columns(kept, ratings, plan))),
        label=scale.label if scale else "",
        is_by_mean=scale is not None and scale.is_by_mean,
        is_nominal=scale is not None and scale.is_nominal,
        planned_table=planned_table,
        further_dialogs=ratings.by_generators.dialog_count - tested.by_generators.dialog_count,
        by_offering=tuple(slice_rows(ratings, offerings)),
        offering_differences=tuple(
            difference
            for levels in offerings.values()
            for difference in level_differences(ratings, levels, scale is not None and scale.is_by_mean)
        ),
        votes=tuple(count_votes(tested, plan.verdicts, fourth)),
    )


def planned_mask(frame: pd.DataFrame, plan: Plan) -> Mask:
    """Return which ratings are of planned dialogs: the first ones in the frozen order of HITs."""
    if plan.planned_until is None:
        return np.ones(len(frame), bool)
    last, end = plan.planned_until
    block, position = frame["block"].to_numpy(), frame["position"].to_numpy()
    return np.asarray((block < last) | ((block == last) & (position < end)))


def _tables(ratings: CodedRatings, tested: CodedRatings) -> tuple[tuple[ShareRow, ...], tuple[ShareRow, ...]]:
    """Return the table, and that of what is tested if it is less."""
    return tuple(table_rows(ratings)), () if tested is ratings else tuple(table_rows(tested))


def _split_by_dataset(ratings: CodedRatings) -> Iterator[tuple[str | None, CodedRatings]]:
    """Yield all datasets together if there are several, then each dataset by itself: all of them are a copy."""
    if len(ratings.datasets) > 1:
        yield None, ratings
    for code, name in enumerate(ratings.datasets):
        yield name, ratings.in_dataset(code)


def size_of(ratings: CodedRatings, rows: ChosenRows) -> Size:
    """Count the ratings; `rows` are the same in the frame."""
    human = int((ratings.generator == HUMAN).sum())
    return Size(len(ratings) - human, human, _answers(ratings, rows), ratings.dialog_count, ratings.worker_count)


def _answers(ratings: CodedRatings, rows: ChosenRows) -> int:
    """Count how often a worker answered a dialog: where replies are compared, they may meet one again with another
    pair of replies, in another assignment."""
    if ratings.opponent is None or "position" not in rows:
        return int(np.count_nonzero(np.bincount(ratings.answer)))
    assignments = rows["submission" if "submission" in rows else "assignment"].to_numpy(np.int64)
    positions = rows["position"].to_numpy(np.int64)
    return len(pd.unique(assignments * (positions.max(initial=0) + 1) + positions))


def _measure_agreement(scopes: Iterator[tuple[str | None, CodedRatings]]) -> Iterator[Agreement]:
    for name, part in scopes:
        yield agreement(part.cards, name)
        if part.opponent is None:
            by_generator = part.by_group(part.generator, len(part.generators))
        else:
            by_generator = (part.of_generator(code) for code in range(len(part.generators)))
        for code, one in enumerate(by_generator):
            yield agreement(one, name, part.generators[code])


def _slice_columns(kept: ChosenRows, ratings: CodedRatings, plan: Plan) -> dict[str, Levels]:
    """Return what dialogs are sliced by, as far as the frame says it."""
    found: dict[str, Levels] = {}
    if "emotion" in kept:
        column = kept["emotion"].astype("category")
        emotions = tuple(str(name) for name in column.cat.categories)
        if plan.emotion_groups:
            group_of = {name: code for code, names in enumerate(plan.emotion_groups.values()) for name in names}
            codes = np.array([*(group_of.get(name, -1) for name in emotions), -1])  # the last one is no emotion's
            found["emotion group"] = (codes[column.cat.codes.to_numpy()], tuple(plan.emotion_groups))
        found["emotion"] = (column.cat.codes.to_numpy(), emotions)
    if "turns" in kept:
        codes, counts = pd.factorize(kept["turns"].to_numpy(), sort=True)
        found["turns"] = (codes, tuple(str(count) for count in counts))
    return found | {"dataset": (ratings.dataset, ratings.datasets)}


def _offering_levels(kept: ChosenRows) -> dict[str, Levels]:
    if "offering" not in kept:
        return {}
    column = kept["offering"].cat
    return {"offering": (column.codes.to_numpy(), tuple(str(name) for name in column.categories))}


def _label_shares(kept: ChosenRows, ratings: CodedRatings) -> list[Labels]:
    if ratings.opponent is not None:  # who wins depends on both replies, so one reply's label explains little
        return []
    if "label" not in kept or not (column := kept["label"].astype("category")).notna().any():
        return []
    names = tuple(str(name) for name in column.cat.categories)
    return label_distributions(ratings, column.cat.codes.to_numpy(), names)


def _metric_columns(kept: ChosenRows, ratings: CodedRatings) -> Mapping[str, npt.ArrayLike]:
    return {} if ratings.no_score_because else ChosenRows(kept.frame, kept.rows, METRIC_PREFIX)


def _rules_of_no_points(frame: pd.DataFrame) -> list[str]:
    """Name the rules that may leave work out where the human reply is the measure. Rules about points keep work because
    it rated that reply well, so that what they keep would flatter it."""
    return [name for name in rules_in(frame) if not (name in RULES and RULES[name].is_about_points)]


def _calibration_rows(ratings: CodedRatings, is_kept: Mask) -> list[ShareRow]:
    """Return, for each dataset, how the human replies were rated, and the generators' replies in the same dialogs. All
    datasets together come first, if human replies were rated in each of them."""
    found = []
    has_human = np.zeros(int(ratings.dialog.max(initial=-1)) + 1, bool)
    has_human[ratings.dialog[is_kept & (ratings.generator == HUMAN)]] = True
    checkpoints = ratings.of(is_kept & has_human[ratings.dialog])
    for code, name in enumerate(ratings.datasets):
        part = checkpoints.in_dataset(code)
        if len(part):
            found += [human_row(part, name), *(row for row in rows_by_dataset(part) if row.dataset == name)]
    datasets = {row.dataset for row in found}
    if len(datasets) > 1 and len(datasets) == len(ratings.datasets) and not checkpoints.by_generators.pooling_problem:
        together = [row for row in table_rows(checkpoints) if row.dataset is None]
        found = [human_row(checkpoints, None), *together, *found]
    return found


def _other_variants(
    everything: CodedRatings, frame: pd.DataFrame, seed: int, plan: Plan, criterion: str
) -> list[Variant]:
    rules = rules_in(frame)
    chosen: dict[str, list[str]] = {NO_RULE: []}
    if len(rules) > 1:
        chosen |= {f"without {rule}": [other for other in rules if other != rule] for rule in rules}
    is_planned = planned_mask(frame, plan)
    found: list[Variant] = []
    computed: dict[bytes, Variant] = {}  # by the ratings that are kept, which are often the same
    for name, some in chosen.items():
        is_kept = kept_mask(frame, some)
        if same := computed.get(is_kept.tobytes()):
            found.append(replace(same, name=name, rules=tuple(some)))
            continue
        human = int((is_kept & (everything.generator == HUMAN)).sum())
        is_counted = is_kept & (everything.generator != HUMAN)
        ratings = everything.of(is_counted)
        tested = ratings if is_planned.all() else everything.of(is_counted & is_planned)
        dataset, part = next(_split_by_dataset(ratings))
        table, planned_table = _tables(ratings, tested)
        found.append(
            Variant(
                name,
                tuple(some),
                replace(size_of(ratings, ChosenRows(frame, is_counted)), human_ratings=human),
                table,
                agreement(part.cards, dataset),
                rank_generators(next(_split_by_dataset(tested))[1], dataset),
                tuple(compare_generators(tested, seed, plan, criterion)),
                planned_table,
            )
        )
        computed[is_kept.tobytes()] = found[-1]
    return found
