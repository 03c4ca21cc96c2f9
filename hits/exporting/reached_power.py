"""Computes the power of a study as it was designed and as it was carried out, for methods and datasheet.

In: the frozen design and the results. Out: the smallest difference that a study of that size finds with a power of
80 %, by the planner's simulation (hits.stats.power). Guaranteed: never the "observed power" of the difference that was
found, which says no more than its p-value (Hoenig and Heisey 2001).
"""

from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from hits.analysing import Results
from hits.designing import planned_setting
from hits.models.design import StudyDesign
from hits.protocols import Protocol, protocol_of
from hits.stats import SIMULATIONS, Setting, Undefined, detectable_difference

POWER = 0.8
NO_PLANNER = "the planner does not cover this way of asking"
ONE_MODEL = "there is one model only, and nothing to compare"
Measure = Literal["share of the best value", "mean score", "wins minus losses"]
INTERIM = "the study is not complete"


class PowerOfSize(BaseModel):
    """The smallest difference that a study of this size finds with this power, as a part of what there can be; None if
    it finds not even the largest possible one. Where two replies are compared, `dialogs` are those of one pair."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dialogs: int
    ratings_per_dialog: int  # of one model's reply
    effective_workers: int
    detectable: float | None


class PowerFacts(BaseModel):
    """`problem` says why there is nothing. `reached` is None for a study that is not complete. A difference of 1 is so
    many `points` of the `measure`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    power: float = POWER
    simulations: int = SIMULATIONS
    taste: float = 0.0  # the share of the latent variance that is assumed for workers' tastes
    pairs: int = 0
    measure: Measure = "share of the best value"
    points: float = 100
    is_by_sequence: bool = False  # the confidence sequence at the end was simulated, and no test
    problem: str = ""
    planned: PowerOfSize | None = None
    reached: PowerOfSize | None = None
    reached_problem: str = ""


def power_facts(design: StudyDesign, dialogs: int, results: Results) -> PowerFacts:
    if len(design.generators) < 2:
        return PowerFacts(problem=ONE_MODEL)
    protocol = protocol_of(design)
    if protocol.planned_shares(protocol.criteria[0]) is None:
        return PowerFacts(problem=NO_PLANNER)
    setting = planned_setting(design, design.analysis.planned_dialogs or dialogs)
    reached = _reached_setting(setting, protocol, results)
    return PowerFacts(
        taste=setting.effects.taste,
        pairs=setting.pairs,
        is_by_sequence=setting.is_by_sequence,
        measure=_measure_of(setting),
        points=setting.score_range if setting.is_by_mean else 100,
        planned=_power_of(setting),
        reached=None if isinstance(reached, Undefined) else _power_of(reached),
        reached_problem=reached.reason if isinstance(reached, Undefined) else "",
    )


def _power_of(setting: Setting) -> PowerOfSize:
    return PowerOfSize(
        dialogs=setting.dialogs,
        ratings_per_dialog=setting.raters,
        effective_workers=setting.worker_count,
        detectable=detectable_difference(setting, POWER),
    )


def _measure_of(setting: Setting) -> Measure:
    if setting.is_comparison:
        return "wins minus losses"
    return "mean score" if setting.is_by_mean else "share of the best value"


def _reached_setting(planned: Setting, protocol: Protocol[Any], results: Results) -> Setting | Undefined:
    """Return the study as it was carried out: the dialogs, ratings and workers that count. What ratings may look like
    stays as it was planned."""
    if not results.progress.is_complete:
        return Undefined(INTERIM)
    found = results.main
    if found.size.dialogs - found.further_dialogs < 2 or not found.comparisons:
        return Undefined("fewer than two dialogs have ratings that count")
    dialogs = found.size.dialogs - found.further_dialogs  # those that were tested
    raters = max(1, round(found.size.answers / found.size.dialogs / protocol.showings))
    compared = max(2, protocol.dialogs_of_a_pair(dialogs))
    workers = max(round(found.comparisons[0].effective_workers), raters)
    return replace(planned, dialogs=compared, raters=raters, workers=workers)
