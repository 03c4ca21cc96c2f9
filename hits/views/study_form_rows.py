"""Makes rows for the parts of the study form that are more than a field: datasets, warm-up, screening."""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from generation.counting import count_datasets
from generation.models import Dataset
from hits.models.screening_rule import ScreeningRule
from hits.protocols import protocol_in
from hits.screening import every_rule
from hits.views.setting_fields import get_setting
from hits.views.typed_text import in_short

SPARE_REPLIES = 2


def dataset_rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List all datasets with how many dialogs the draft wants; those of the draft come first, in its order."""
    asked = {part.get("name"): part for part in get_setting(settings, "datasets")}
    order = {name: rank for rank, name in enumerate(asked)}
    counted = sorted(
        count_datasets(Dataset.objects.all()), key=lambda counts: order.get(counts.dataset.name, len(order))
    )
    return [
        {
            "dataset": counts.dataset,
            "dialog_count": counts.dialog_count,
            "gold_count": counts.gold_count,
            "asked": part.get("dialogs", 0),
            "even_by": part.get("even_by", ""),
            "ids": "\n".join(map(str, _as_list(part.get("ids")))),
        }
        for counts in counted
        for part in [asked.get(counts.dataset.name, {})]
    ]


def warm_up_rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    fitting = protocol_in(settings).fitting_setting.path
    replies = [{**reply, "fits": _as_list(reply.get(fitting))} for reply in get_setting(settings, "warm_up.replies")]
    return [*replies, *[{"fits": []}] * SPARE_REPLIES]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def screening_rows(settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List all rules with the draft's settings, then those that it names and we don't have, so that they can be
    removed."""
    chosen = {rule.get("rule"): rule for rule in get_setting(settings, "screening")}
    rows = []
    for rule in every_rule():
        values = chosen.pop(rule.rule, None)
        parameters = {name: (values or {}).get(name, default) for name, default in rule.parameters.items()}
        rows.append(_rule_row(rule.rule, rule.summary(), parameters, values is not None, _choices(rule)))
    return rows + [
        _rule_row(str(name), f"{name}: this version of EvalPlatform has no such rule", values, True, {})
        for name, values in chosen.items()
    ]


def _choices(rule: ScreeningRule) -> dict[str, tuple[str, ...]]:
    """Return the words that a setting may have, for settings that are no numbers."""
    fields = type(rule).model_fields.items()
    return {name: get_args(field.annotation) for name, field in fields if get_origin(field.annotation) is Literal}


def _rule_row(
    name: str, description: str, parameters: Mapping[str, Any], is_on: bool, choices: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    shown = [
        {"name": key, "value": in_short(value), "choices": choices.get(key, ())}
        for key, value in parameters.items()
        if key != "rule"
    ]
    return {"name": name, "is_on": is_on, "description": description, "parameters": shown}
