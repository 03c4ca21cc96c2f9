"""Rows for the parts of the study form that are more than a field: datasets, warm-up, screening."""

from collections.abc import Mapping
from typing import Any, get_args

from generation.counting import count_datasets
from generation.models import Dataset
from hits.models.design import ScreeningRule
from hits.protocols import protocol_in
from hits.views.setting_fields import get_setting, in_short

SPARE_REPLIES = 2

RULE_TEXTS = {
    "same_answer": "workers who put almost all replies into the same area (share of it)",
    "hasty_without_points": "workers who took less than so many minutes and won fewer than so many points",
    "too_few_points": "single assignments with fewer than so many points",
    "too_fast_per_dialog": "workers who spent less than so many seconds on this share of the dialogs",
    "straight_lines": "workers who put all replies of a dialog into one area, in this share of the dialogs",
    "position_bias": "workers whose areas follow the place on the page (p-value, strength from 0 to 1)",
    "disagreement_on_easy_items": "workers who disagree with this share of what so many others agree on",
    "first_attempt_failures": "workers who failed this share of checkpoints at first, if they met so many",
    "many_attempts": "workers who tried so many times a checkpoint on average, if they met so many",
    "moved_after_check": "workers who sorted anew after winning, in this share of the checkpoints they won, if so many",
    "inattention": "workers who had the page in a hidden tab most of the time, in this share of the dialogs",
    "copies": "workers who gave this share of answers as another one did, beyond chance (p-value)",
}


def dataset_rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All datasets with how many dialogs are asked for; those of the draft first, in its order."""
    asked = {part.get("name"): part.get("dialogs") for part in get_setting(settings, "datasets")}
    order = {name: place for place, name in enumerate(asked)}
    counted = sorted(
        count_datasets(Dataset.objects.all()), key=lambda counts: order.get(counts.dataset.name, len(order))
    )
    return [
        {
            "dataset": counts.dataset,
            "dialog_count": counts.dialog_count,
            "gold_count": counts.gold_count,
            "asked": asked.get(counts.dataset.name, 0),
        }
        for counts in counted
    ]


def warm_up_rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    fitting = protocol_in(settings).fitting_setting.path
    replies = [{**reply, "fits": _as_list(reply.get(fitting))} for reply in get_setting(settings, "warm_up.replies")]
    return [*replies, *[{"fits": []}] * SPARE_REPLIES]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def screening_rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    chosen = {rule.get("rule"): rule for rule in get_setting(settings, "screening")}
    rows = []
    for model in get_args(get_args(ScreeningRule)[0]):
        defaults = model().model_dump()
        name = defaults.pop("rule")
        values = chosen.get(name, {})
        parameters = [{"name": key, "value": in_short(values.get(key, default))} for key, default in defaults.items()]
        rows.append({"name": name, "is_on": name in chosen, "description": RULE_TEXTS[name], "parameters": parameters})
    return rows
