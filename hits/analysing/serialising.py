"""Writes results as JSON with six significant digits, and reads them back.

Numbers have six significant digits, so that machines with different arithmetic agree. An undefined number is written as
{"undefined": reason}.
"""

import json
import math
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from hits.analysing.results import Results
from hits.stats import Undefined


def results_as_json(results: Results) -> str:
    return json.dumps(plain(results), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def results_from_json(text: str) -> Results:
    return _adapter().validate_python(_defined(json.loads(text)))


def plain(value: Any) -> Any:
    """Turn dataclasses and tuples into the types that JSON has."""
    if isinstance(value, Undefined):
        return {"undefined": value.reason}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("A statistic is not a number: it should have been undefined, with a reason.")
        return float(f"{value:.6g}")
    return value


def _defined(value: Any) -> Any:
    if isinstance(value, list):
        return [_defined(one) for one in value]
    if isinstance(value, dict):
        if value.keys() == {"undefined"}:
            return {"reason": value["undefined"]}
        return {name: _defined(one) for name, one in value.items()}
    return value


@cache
def _adapter() -> TypeAdapter[Results]:
    return TypeAdapter(Results)
