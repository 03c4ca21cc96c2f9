"""Changes a draft's protocol: which settings stay, and which are removed because only the old protocol has them.

In: a draft, which may hold anything, and the name of the new protocol. Out: the draft with the new protocol, and the
paths of what was removed. Guaranteed: nothing is left that only the old protocol knows, so that the study form, which
has no field for it any more, never asks to remove it. What neither protocol knows stays, since it is a mistake that
the researcher should read about.
"""

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from hits.models.design import Part
from hits.protocols import PROTOCOLS, protocol_in

Fields = dict[str, FieldInfo]


def switch_protocol(settings: Mapping[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    """Return the draft as one of the protocol `name`, and the paths of the settings that do not fit it."""
    if name not in PROTOCOLS:
        return {**settings, "protocol": name}, []
    old, new = protocol_in(settings).design_class, PROTOCOLS[name].design_class
    removed: list[str] = []
    kept = _keep_fitting(settings, _fields(old), _fields(new), "", removed)
    analysis = kept.get("analysis")
    if isinstance(analysis, Mapping) and "outcome" in analysis:
        # Each protocol has its own default, and not every outcome is on offer everywhere.
        kept["analysis"] = {key: value for key, value in analysis.items() if key != "outcome"}
        removed.append("analysis.outcome")
    return {**kept, "protocol": name}, removed


def _keep_fitting(
    settings: Mapping[str, Any], old: Fields, new: Fields, path: str, removed: list[str]
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in settings.items():
        here = f"{path}.{key}" if path else key
        before, after = old.get(key), new.get(key)
        if before is None or (after is not None and before.annotation == after.annotation):
            kept[key] = value
        elif here == "protocol":
            pass
        elif after is None:
            removed.append(here)
        elif isinstance(value, Mapping) and _is_part(before.annotation) and _is_part(after.annotation):
            kept[key] = _keep_fitting(value, _fields(before.annotation), _fields(after.annotation), here, removed)
        elif _is_valid(fitting := _with_known_keys(value, after.annotation), after):
            kept[key] = fitting
        else:
            removed.append(here)
    return kept


def _fields(part: Any) -> Fields:
    """Return the fields of a part by their names in a study file."""
    found: Fields = part.model_fields
    return {field.alias or name: field for name, field in found.items()}


def _is_part(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Part)


def _with_known_keys(value: Any, annotation: Any) -> Any:
    """Return a list of tables without the keys that the new protocol's tables do not have."""
    of = [one for one in get_args(annotation) if _is_part(one)]
    if not of or not isinstance(value, list):
        return value
    known = _fields(of[0])
    return [
        {key: cell for key, cell in one.items() if key in known} if isinstance(one, Mapping) else one for one in value
    ]


def _is_valid(value: Any, field: FieldInfo) -> bool:
    checked: Any = Annotated[field.annotation, field, *field.metadata]
    try:
        TypeAdapter(checked).validate_python(value)
    except ValidationError:
        return False
    return True
