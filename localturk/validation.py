"""Check the parameters of a call against botocore's service model, also bounds and patterns that botocore ignores.

We guess which code MTurk gives for which bad value: AWS documents the codes, but not when they are used.
"""

import functools
import re
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, ServiceModel, Shape, StringShape, StructureShape
from botocore.utils import parse_to_aware_datetime
from botocore.validate import ParamValidator

from localturk.errors import RequestError, invalid
from localturk.limits import check_limits

INVALID_VALUE = "AWS.MechanicalTurk.InvalidParameterValue"
UNKNOWN_OPERATION = "AWS.MechanicalTurk.InvalidOperation"  # a guess


@functools.cache
def service_model() -> ServiceModel:
    loaded = Loader().load_service_model("mturk", "service-2")
    return ServiceModel(loaded, service_name="mturk")


def checked_params(operation: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with their timestamps parsed, or raise the error that the marketplace answers with."""
    if operation not in service_model().operation_names:
        raise RequestError(UNKNOWN_OPERATION, f"There is no operation {operation}.")
    shape = service_model().operation_model(operation).input_shape
    if not isinstance(shape, StructureShape):
        return {}
    try:
        report = ParamValidator().validate(params, shape)
    except RuntimeError as error:  # botocore raises this for a time that no calendar has
        raise RequestError(INVALID_VALUE, str(error)) from None
    if report.has_errors():
        raise _make_error(report.generate_report())
    _check_metadata("", params, shape)
    check_limits(operation, params)
    return {name: _parse_value(value, shape.members[name]) for name, value in params.items()}


def _make_error(report: str) -> RequestError:
    code = "AWS.MissingParameters" if "Missing required" in report else INVALID_VALUE
    return RequestError(code, report)


def _parse_value(value: Any, shape: Shape) -> Any:
    return parse_to_aware_datetime(value) if shape.type_name == "timestamp" else value


def _check_metadata(name: str, value: Any, shape: Shape) -> None:
    if isinstance(shape, StructureShape):
        for member, inner in value.items():
            _check_metadata(member, inner, shape.members[member])
    elif isinstance(shape, ListShape):
        for inner in value:
            _check_metadata(name, inner, shape.member)
    elif isinstance(shape, StringShape):
        _check_text(name, value, shape)
    elif shape.type_name == "integer":
        _check_range(name, value, shape.metadata.get("min"), shape.metadata.get("max"))


def _check_text(name: str, value: str, shape: StringShape) -> None:
    if shape.enum and value not in shape.enum:
        raise RequestError(
            "AWS.InvalidEnumeratedParameter", f"{name} is {value!r}; use one of {', '.join(shape.enum)}."
        )
    _check_range(f"The length of {name}", len(value), shape.metadata.get("min"), shape.metadata.get("max"))
    pattern = shape.metadata.get("pattern")
    if pattern and not re.fullmatch(pattern, value):
        raise invalid(name, f"is {value!r}, which does not match {pattern}.")


def _check_range(name: str, value: int, least: int | None, most: int | None) -> None:
    if (least is not None and value < least) or (most is not None and value > most):
        raise RequestError("AWS.ParameterOutOfRange", f"{name} is {value}; it must be from {least} to {most}.")
