"""Check MTurk's documented limits that botocore's service model does not contain: lengths, ranges, requirements."""

from decimal import Decimal
from typing import Any

from localturk.errors import RequestError, invalid
from localturk.questions import check_question

YEAR_SECONDS = 31_536_000
LENGTHS = {
    "Title": (1, 128),
    "Description": (1, 2000),
    "Name": (1, 200),
    "Keywords": (0, 1000),
    "RequesterAnnotation": (0, 255),
    "RequesterFeedback": (0, 1024),
    "Subject": (1, 200),
    "MessageText": (1, 4096),
    "Reason": (0, 1024),  # a guess: AWS gives a limit for feedback only
    "WorkerIds": (1, 100),
}
NEED_REASON = ("SendBonus", "CreateWorkerBlock")
RANGES = {
    "AssignmentDurationInSeconds": (30, YEAR_SECONDS),
    "LifetimeInSeconds": (30, YEAR_SECONDS),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 1_000_000_000),
    "NumberOfAdditionalAssignments": (1, 1_000_000_000),
}
MONEY = ("Reward", "BonusAmount")
MOST_MONEY = Decimal(10_000)  # a guess: AWS names none, and a bonus above it is surely a slip
MOST_REQUIREMENTS = 10
MOST_LOCALES = 30
MOST_INTEGERS = 15
WITHOUT_VALUES = ("Exists", "DoesNotExist")
WITH_SEVERAL_VALUES = ("In", "NotIn")
FOR_LOCALES = ("EqualTo", "NotEqualTo", *WITH_SEVERAL_VALUES, *WITHOUT_VALUES)


def check_limits(operation: str, params: dict[str, Any]) -> None:
    for name, value in params.items():
        if name in LENGTHS:
            _check_range(f"The length of {name}", len(value), *LENGTHS[name])
        if name in RANGES:
            _check_range(name, value, *RANGES[name])
        if name in MONEY:
            _check_money(name, value)
    if operation in NEED_REASON:
        _check_range("The length of Reason", len(params["Reason"]), 1, LENGTHS["Reason"][1])
    if operation in ("CreateHIT", "CreateHITWithHITType"):
        check_question(params)
    _check_requirements(params.get("QualificationRequirements", []))


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise RequestError("AWS.ParameterOutOfRange", f"{name} is {value}; it must be from {least} to {most}.")


def _check_money(name: str, value: str) -> None:
    # The service model's pattern was checked before, so these are digits with at most two decimals.
    if not 0 < Decimal(value) <= MOST_MONEY:
        raise RequestError("AWS.ParameterOutOfRange", f"{name} is {value}; it must be above 0 and up to {MOST_MONEY}.")


def _check_requirements(requirements: list[dict[str, Any]]) -> None:
    if len(requirements) > MOST_REQUIREMENTS:
        raise invalid(
            "QualificationRequirements", f"has {len(requirements)} entries; at most {MOST_REQUIREMENTS} are allowed."
        )
    for requirement in requirements:
        if problem := _find_problem(requirement):
            raise invalid(f"The requirement of {requirement['QualificationTypeId']}", problem)


def _find_problem(requirement: dict[str, Any]) -> str | None:
    comparator = requirement["Comparator"]
    integers, locales = requirement.get("IntegerValues", []), requirement.get("LocaleValues", [])
    count = len(integers) + len(locales)
    if integers and locales:
        return "has both IntegerValues and LocaleValues."
    if "RequiredToPreview" in requirement and "ActionsGuarded" in requirement:
        return "has both RequiredToPreview and ActionsGuarded."
    if comparator in WITHOUT_VALUES and count:
        return f"has values, which {comparator} must not have."
    if comparator in WITH_SEVERAL_VALUES and not count:
        return f"has no values, which {comparator} needs."
    if comparator not in WITHOUT_VALUES + WITH_SEVERAL_VALUES and count != 1:
        return f"has {count} values, {comparator} needs one."
    if len(locales) > MOST_LOCALES or len(integers) > MOST_INTEGERS:
        return f"has too many values: at most {MOST_LOCALES} locales or {MOST_INTEGERS} integers are allowed."
    if locales and comparator not in FOR_LOCALES:
        return f"compares locales with {comparator}."
    return None
