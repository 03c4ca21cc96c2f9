"""Refuses designs: finds everything that is wrong, all at once; each problem names its field and what to do.

What comes in: settings as a study file or the form gives them. What goes out: a StudyDesign and a list of problems; if
the list is empty, the HITs can be built. `parse_design` looks at the settings alone, `find_problems` at the data too.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from evalplatform.wording import count_of
from generation.models import Dataset, Generator
from hits.crowds import CROWDS, planned_crowd
from hits.designing.analysis_problems import find_impossible_analysis
from hits.designing.asking_problems import find_impossible_asking
from hits.designing.choice_problems import MOST_IDS_SHOWN, find_wrong_choice
from hits.designing.control_problems import find_impossible_controls, find_too_small_hits
from hits.designing.selecting import Selection, fill_blocks, missing_replies, select_dialogs
from hits.designing.sizing import size_of_batches
from hits.errors import DesignProblem, InvalidStudy
from hits.models.design import StudyDesign
from hits.protocols import protocol_in, protocol_of


def parse_design(settings: Mapping[str, Any]) -> StudyDesign:
    """Return the design. Raises InvalidStudy with every problem that the settings alone show."""
    design, problems = _parse_what_is_valid(settings)
    if design is not None:
        problems += _find_contradictions(design)
    if problems or design is None:
        raise InvalidStudy(problems)
    return design


@dataclass(frozen=True)
class DraftCheck:
    """The problems of a draft. If there are none, the HITs can be built, and `selections` are the dialogs that it
    takes."""

    problems: list[DesignProblem]
    selections: list[Selection]


def problems_of(settings: Mapping[str, Any]) -> list[DesignProblem]:
    """Return all problems: of single settings, between settings, and with the data. If empty, the HITs can be built."""
    return check_draft(settings).problems


def check_draft(settings: Mapping[str, Any]) -> DraftCheck:
    """Return all problems and the chosen dialogs. Choosing takes most of the time in a large draft, so callers that
    need the dialogs take them from here."""
    design, problems = _parse_what_is_valid(settings)
    if design is None:
        return DraftCheck(problems, [])
    in_data, selections = _look_through_data(design)
    for further in (_find_contradictions(design), in_data):
        # A setting that could not be read has its default here, and one contradiction leads to others. So we report
        # nothing further about a part of the design that has a problem already.
        named = {_part_of(problem) for problem in problems}
        problems = problems + [problem for problem in further if _part_of(problem) not in named]
    return DraftCheck(problems, selections)


def _part_of(problem: DesignProblem) -> str:
    return problem.field.split(".")[0]


def find_problems(design: StudyDesign) -> list[DesignProblem]:
    """Return what the data lacks for this design."""
    return _look_through_data(design)[0]


def _look_through_data(design: StudyDesign) -> tuple[list[DesignProblem], list[Selection]]:
    problems = _find_unknown_names(design)
    known = design.model_copy(
        update={
            "datasets": [part for part in design.datasets if Dataset.objects.filter(name=part.name).exists()],
            "generators": list(Generator.objects.filter(name__in=design.generators).values_list("name", flat=True)),
        }
    )
    selections = select_dialogs(known)
    for part, selection in zip(known.datasets, selections, strict=True):
        problems += find_wrong_choice(known, part, selection)
        if design.data.incomplete == "refuse":
            problems += _find_unanswered_dialogs(known, selection)
    if not problems:
        chosen = fill_blocks(design, selections)
        problems = _find_too_few_golds(design, chosen) or find_too_small_hits(design, chosen)
    return problems, selections


# --- The settings alone ----------------------------------------------------------------------------------------------


def _parse_what_is_valid(settings: Mapping[str, Any]) -> tuple[StudyDesign | None, list[DesignProblem]]:
    """Return the design, with defaults for settings that can't be read, and the problems.

    The design is None if even the defaults do not make one.
    """
    try:
        return StudyDesign.model_validate(settings), []
    except ValidationError as error:
        errors = error.errors()
    design_class = protocol_in(settings).design_class
    problems = [_make_problem(details, design_class) for details in errors]
    readable = settings
    for details in errors:
        readable = _remove_setting(readable, details["loc"])
    try:
        return StudyDesign.model_validate(readable), problems
    except ValidationError:
        return None, problems


def _remove_setting(settings: Any, location: tuple[Any, ...]) -> Any:
    """Return a copy without the setting; without its whole list, if the location points into a list."""
    if not isinstance(settings, Mapping) or not location or location[0] not in settings:
        return settings
    first, *rest = location
    others = {name: value for name, value in settings.items() if name != first}
    if rest and isinstance(settings[first], Mapping):
        return {**others, first: _remove_setting(settings[first], tuple(rest))}
    return others


def _make_problem(details: Any, design_class: type[StudyDesign]) -> DesignProblem:
    field = ".".join(str(part + 1) if isinstance(part, int) else part for part in details["loc"])
    message = details["msg"].removeprefix("Value error, ")
    if details["type"] == "missing":
        message = "is missing"
    elif details["type"] in ("int_parsing", "int_type", "int_from_float"):
        message = f"{details['input']!r} is not a whole number; write it as 20"
    elif details["type"] in ("float_parsing", "float_type"):
        message = f"{details['input']!r} is not a number; write it as 0.5"
    elif details["type"] == "extra_forbidden":
        message = f"is not a setting{_suggest_setting(details['loc'], design_class)}"
    elif field == "name":
        message = "use small letters, digits and hyphens, beginning with a letter or digit"
    elif details["type"] == "string_pattern_mismatch":
        message = "use small letters, digits and underscores, beginning with a letter"
    return DesignProblem(field or "study", message)


def _suggest_setting(location: tuple[Any, ...], design_class: type[StudyDesign]) -> str:
    known = _setting_names_at(location[:-1], design_class)
    found = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"; did you mean {found[0]}?" if found else f"; known are {', '.join(known)}" if known else ""


def _setting_names_at(location: tuple[Any, ...], design_class: type[StudyDesign]) -> list[str]:
    part: Any = design_class
    for step in location:
        if isinstance(step, int) or step not in part.model_fields:
            return []
        part = part.model_fields[step].annotation
        if not hasattr(part, "model_fields"):
            return []
    return [field.alias or name for name, field in part.model_fields.items()]


def _find_contradictions(design: StudyDesign) -> list[DesignProblem]:
    problems = []
    datasets = [part.name for part in design.datasets]
    for field, names in (("datasets", datasets), ("generators", design.generators)):
        if twice := sorted({name for name in names if names.count(name) > 1}):
            problems.append(DesignProblem(field, f"{', '.join(twice)} is listed twice; list each once"))
    protocol = protocol_of(design)
    problems += protocol.problems()
    problems += find_impossible_asking(protocol)
    problems += _find_impossible_checkpoints(design, datasets)
    problems += find_impossible_controls(design)
    problems += _find_impossible_bonus(design)
    problems += _find_impossible_screening(design)
    problems += _find_impossible_time(design)
    problems += _find_problems_of_crowd(design)
    problems += find_impossible_analysis(design)
    return problems


def _find_impossible_checkpoints(design: StudyDesign, datasets: list[str]) -> list[DesignProblem]:
    checkpoints, per_hit = design.checkpoints, design.hits.dialogs_per_hit
    if checkpoints.per_hit > per_hit:
        message = (
            f"{count_of(checkpoints.per_hit, 'checkpoint')} can't fit into a HIT of {count_of(per_hit, 'dialog')}; "
            "lower one or raise the other"
        )
        return [DesignProblem("checkpoints.per_hit", message)]
    if checkpoints.feedback == "after submission" and checkpoints.counts == "first check":
        message = 'there is no first check if workers learn their points after submission; set it to "final"'
        return [DesignProblem("checkpoints.counts", message)]
    if checkpoints.per_hit and not checkpoints.datasets:
        return [
            DesignProblem(
                "checkpoints.datasets", f"is empty; name the datasets to take them from: {', '.join(datasets)}"
            )
        ]
    return [
        DesignProblem("checkpoints.datasets", f"{name!r} is not a dataset of this study; use {', '.join(datasets)}")
        for name in checkpoints.datasets
        if name not in datasets
    ]


def _find_impossible_bonus(design: StudyDesign) -> list[DesignProblem]:
    """Report a bonus that nobody can win, or that everybody gets."""
    pay, checkpoints = design.pay, design.checkpoints
    if not pay.bonus_cents:
        return []
    if pay.bonus_points > checkpoints.per_hit:
        message = (
            f"{count_of(pay.bonus_points, 'point')} can never be won with "
            f"{count_of(checkpoints.per_hit, 'checkpoint')} a HIT; ask for fewer points, or set pay.bonus to 0"
        )
        return [DesignProblem("pay.bonus_points", message)]
    if not pay.bonus_points:
        return [
            DesignProblem("pay.bonus_points", "is 0, so everyone gets the bonus; ask for a point, or raise the reward")
        ]
    return []


def _find_impossible_screening(design: StudyDesign) -> list[DesignProblem]:
    return [
        DesignProblem(f"screening.{number}.{problem.field}", problem.message)
        for number, rule in enumerate(design.screening, 1)
        for problem in rule.problems(design)
    ]


def _find_impossible_time(design: StudyDesign) -> list[DesignProblem]:
    """Report a time limit in which a worker at the expected pace can't finish and so would lose their pay."""
    limit, expected = design.crowd.time_limit_minutes, design.pay.expected_minutes
    if limit >= expected:
        return []
    message = (
        f"{count_of(limit, 'minute is', 'minutes are')} less than the {count_of(expected, 'minute')} that a HIT takes "
        "(pay.expected_minutes), so that workers lose their pay; allow twice the expected time or more"
    )
    return [DesignProblem("crowd.time_limit_minutes", message)]


def _find_problems_of_crowd(design: StudyDesign) -> list[DesignProblem]:
    """Report what the crowd that the study is meant for can't do. Others are asked when it is published there."""
    if design.crowd.name not in CROWDS:
        return [DesignProblem("crowd.name", f"{design.crowd.name!r} is no crowd; use one of: {', '.join(CROWDS)}")]
    crowd = planned_crowd(design)
    wishes = [DesignProblem(one.field, f"{crowd.name}: {one.message}") for one in crowd.unmet_wishes(design)]
    return [*wishes, *crowd.option_problems(design)]


# --- The data --------------------------------------------------------------------------------------------------------


def _find_unknown_names(design: StudyDesign) -> list[DesignProblem]:
    problems = []
    datasets = set(Dataset.objects.values_list("name", flat=True))
    for number, part in enumerate(design.datasets, 1):
        if part.name not in datasets:
            known = ", ".join(sorted(datasets)) or "none yet"
            message = f"there is no dataset {part.name!r}; import it, or use one of: {known}"
            problems.append(DesignProblem(f"datasets.{number}.name", message))
    generators = set(Generator.objects.values_list("name", flat=True))
    for name in design.generators:
        if name not in generators:
            known = ", ".join(sorted(generators)) or "none yet"
            message = f"there is no generator {name!r}; import its replies, or use one of: {known}"
            problems.append(DesignProblem("generators", message))
    return problems


def _find_unanswered_dialogs(design: StudyDesign, selection: Selection) -> list[DesignProblem]:
    problems = []
    for generator, ids in missing_replies(design, selection, MOST_IDS_SHOWN).items():
        named = ", ".join(ids.examples) + (", ..." if ids.count > len(ids.examples) else "")
        message = (
            f"{generator} has no reply to {ids.count:,} of the {count_of(len(selection.dialogs), 'chosen dialog')} of "
            f'{selection.dataset} ({named}); import them, or set data.incomplete = "skip"'
        )
        problems.append(DesignProblem("generators", message))
    return problems


def _find_too_few_golds(design: StudyDesign, selections: list[Selection]) -> list[DesignProblem]:
    golds = sum(
        sum(dialog.has_gold for dialog in selection.dialogs)
        for selection in selections
        if selection.dataset in design.checkpoints.datasets
    )
    size = size_of_batches(design, sum(len(selection.dialogs) for selection in selections))
    needed = size.block_count * design.checkpoints.per_hit
    if golds * size.showings >= needed:
        return []
    message = (
        f"{count_of(needed, 'checkpoint is', 'checkpoints are')} needed "
        f"({count_of(size.block_count, 'HIT')} x {design.checkpoints.per_hit}), and only "
        f"{golds:,} of the chosen dialogs of {', '.join(design.checkpoints.datasets)} have a human reply; "
        "ask for fewer checkpoints, or for more dialogs of these datasets"
    )
    return [DesignProblem("checkpoints.per_hit", message)]
