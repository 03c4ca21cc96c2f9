"""Checks the settings in `crowd.options` that are Prolific's own: first their form, then against what the API lists."""

from collections.abc import Iterator, Mapping
from typing import Any

from hits.crowds.abilities import unknown_options
from hits.crowds.prolific.study_fields import DEVICES
from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.protocols import OwnSetting

WARNINGS = ("sensitive", "explicit")
OPTIONS = (
    OwnSetting("filters", "Who may take part there", "filters"),
    OwnSetting("devices", "Devices (all, unless you choose)", "many", choices=[(one, one) for one in DEVICES]),
    OwnSetting("content_warnings", "Content warnings", "many", choices=[(one, one) for one in WARNINGS]),
    OwnSetting("content_warning_details", "What they warn of", "text"),
    OwnSetting("study_labels", "Label of the study", "words", "as ai_evaluation"),
    OwnSetting("signed_links", "Prolific signs the links, where your workspace has that", "flag"),
)
LISTS = {"devices": DEVICES, "content_warnings": WARNINGS, "study_labels": ()}
KNOWN = ("filters", *LISTS, "content_warning_details", "signed_links")


def option_problems(design: StudyDesign) -> Iterator[DesignProblem]:
    """Yield what is wrong with the form of the options. Whether Prolific knows a filter is asked when publishing."""
    yield from unknown_options(design, known=KNOWN)
    options = design.crowd.options
    for name, known in LISTS.items():
        values = options.get(name, [])
        if not _are_texts(values) or (known and not set(values) <= set(known)):
            choices = f" of {', '.join(known)}" if known else ""
            yield DesignProblem(f"crowd.options.{name}", f"must be a list{choices}")
    if options.get("devices") == []:
        yield DesignProblem("crowd.options.devices", "names no device")
    if not isinstance(options.get("signed_links", False), bool):
        yield DesignProblem("crowd.options.signed_links", "must be true or false")
    if not isinstance(options.get("content_warning_details", ""), str):
        yield DesignProblem("crowd.options.content_warning_details", "must be a text")
    filters = options.get("filters", [])
    if not isinstance(filters, list):
        yield DesignProblem("crowd.options.filters", "must be a list of tables with a filter_id")
        return
    for one in filters:
        if problem := _form_problem(one):
            yield DesignProblem("crowd.options.filters", problem)


def _form_problem(one: Any) -> str:
    if not isinstance(one, Mapping) or not isinstance(one.get("filter_id"), str):
        return "has an entry without a filter_id"
    values, bounds = one.get("selected_values"), one.get("selected_range")
    if set(one) == {"filter_id", "selected_values"} and _are_texts(values) and values:
        return ""
    if set(one) == {"filter_id", "selected_range"} and _is_range(bounds):
        return ""
    return (
        f"{one['filter_id']} needs either selected_values, a list of texts, or selected_range with numbers as lower "
        "and upper, and nothing else"
    )


def _is_range(bounds: Any) -> bool:
    is_table = isinstance(bounds, Mapping) and bool(bounds) and set(bounds) <= {"lower", "upper"}
    return is_table and all(type(value) in (int, float) for value in bounds.values())


def filter_problems(design: StudyDesign, listed: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield what Prolific would not understand. `listed` are the filters that it has, by their ids."""
    for one in design.crowd.options.get("filters", []):
        key = one["filter_id"]
        known = listed.get(key)
        if known is None:
            yield f"Prolific has no filter {key}."
        elif known.get("type") == "range" and "selected_range" not in one:
            yield f"The filter {key} needs a selected_range."
        elif known.get("type") != "range" and "selected_values" not in one:
            yield f"The filter {key} needs selected_values."
        elif choices := known.get("choices"):
            strangers = [value for value in one.get("selected_values", []) if value not in choices]
            if strangers:
                yield f"The filter {key} has no choice {strangers[0]}; it has {_list_choices(choices)}."


def _list_choices(choices: Mapping[str, str]) -> str:
    shown = [f"{key} ({title})" for key, title in choices.items()]
    return ", ".join(shown[:12]) + (", ..." if len(shown) > 12 else "")


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) for one in values)
