"""Finds what is wrong with the dialogs that a design asks for: too few, unknown ids, rare values of a label."""

from collections import Counter

from evalplatform.wording import count_of
from hits.designing.selecting import Selection
from hits.errors import DesignProblem
from hits.models.design import DatasetPart, StudyDesign

MOST_IDS_SHOWN = 5


def find_wrong_choice(design: StudyDesign, part: DatasetPart, selection: Selection) -> list[DesignProblem]:
    message = _wrong_ids_or_values(design, part, selection) or _too_few(design, part.dialog_count, selection)
    return [DesignProblem("datasets", message)] if message else []


def _wrong_ids_or_values(design: StudyDesign, part: DatasetPart, selection: Selection) -> str:
    if part.ids and part.even_by:
        return f"{part.name} has both ids and even_by; name the dialogs, or have them chosen evenly"
    if twice := sorted(one for one, times in Counter(part.ids).items() if times > 1):
        return f"{part.name} lists {_some(twice)} twice; list each dialog once"
    if part.ids and part.dialog_count != len(part.ids):
        return f"{part.name} lists {count_of(len(part.ids), 'id')}, and {part.dialog_count:,} dialogs are asked for"
    if missing := sorted(set(part.ids) - {dialog.external_id for dialog in selection.dialogs}):
        return f"{part.name} has no dialogs, or none with all replies, with these ids: {_some(missing)}"
    if part.even_by and not selection.dialogs:
        return f"no dialog of {part.name} has a value for {part.even_by}; remove even_by"
    if selection.scarce and design.data.short == "refuse":
        scarce = [f"{value} ({count})" for value, count in selection.scarce.items()]
        return (
            f"{part.name} has too few dialogs of {_some(scarce)} for as many of each {part.even_by}; ask for fewer, or "
            'set data.short = "take all"'
        )
    return ""


def _some(names: list[str]) -> str:
    return ", ".join(names[:MOST_IDS_SHOWN]) + (", ..." if len(names) > MOST_IDS_SHOWN else "")


def _too_few(design: StudyDesign, wanted: int, selection: Selection) -> str:
    found = len(selection.dialogs)
    if found == wanted or (found and design.data.short == "take all"):
        return ""
    answered = " that all generators have answered" if design.data.incomplete == "skip" else ""
    message = (
        f"{selection.dataset} has {count_of(found, 'dialog')}{answered}, and {wanted:,} are asked for; import more"
    )
    if found:
        message += f', ask for {found:,}, or set data.short = "take all"'
    return message
