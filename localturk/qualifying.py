"""Decide whether a worker meets a HIT's requirements (country, approved work), and put requirements into words.

A worker without the qualification meets DoesNotExist and nothing else; for NotEqualTo and NotIn that is our guess.
Someone without any history has an approval rate of 100 %.
"""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from localturk.models import Qualification, QualificationType, TurkAssignment, WorkerAccount

LOCALE = "00000000000000000071"
NUMBER_APPROVED = "00000000000000000040"
PERCENT_APPROVED = "000000000000000000L0"
ADULT = "00000000000000000060"
SYSTEM_QUALIFICATION_TYPES = {
    LOCALE: "Location",
    NUMBER_APPROVED: "Number of HITs approved",
    PERCENT_APPROVED: "HIT approval rate (%)",
    ADULT: "Adult content",
    "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH": "Masters",
    "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6": "Masters (sandbox)",
}

Requirement = dict[str, Any]
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "LessThan": operator.lt,
    "LessThanOrEqualTo": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqualTo": operator.ge,
    "EqualTo": operator.eq,
    "NotEqualTo": operator.ne,
}
WORDS = {
    "LessThan": "less than",
    "LessThanOrEqualTo": "at most",
    "GreaterThan": "greater than",
    "GreaterThanOrEqualTo": "at least",
    "EqualTo": "is",
    "NotEqualTo": "is not",
    "Exists": "has been granted",
    "DoesNotExist": "has not been granted",
    "In": "is one of",
    "NotIn": "is not one of",
}


@dataclass(frozen=True)
class Standing:
    """What requirements ask about a worker, read once. `values` are by qualification type; None if it has no value."""

    country: str
    subdivision: str
    values: dict[str, int | None]

    def first_unmet(self, requirements: Iterable[Requirement]) -> Requirement | None:
        return next((one for one in requirements if not self._meets(one)), None)

    def _meets(self, requirement: Requirement) -> bool:
        kind: str = requirement["QualificationTypeId"]
        comparator: str = requirement["Comparator"]
        if kind == LOCALE:
            return self._is_at(requirement)
        if comparator in ("Exists", "DoesNotExist"):
            return (kind in self.values) == (comparator == "Exists")
        value, wanted = self.values.get(kind), requirement.get("IntegerValues", [])
        if value is None:
            return False
        if comparator in ("In", "NotIn"):
            return (value in wanted) == (comparator == "In")
        return COMPARISONS[comparator](value, wanted[0])

    def _is_at(self, requirement: Requirement) -> bool:
        is_there = any(
            locale["Country"] == self.country and locale.get("Subdivision", self.subdivision) == self.subdivision
            for locale in requirement.get("LocaleValues", [])
        )
        return {"Exists": True, "DoesNotExist": False, "NotEqualTo": not is_there, "NotIn": not is_there}.get(
            requirement["Comparator"], is_there
        )


def standing_of(worker: WorkerAccount) -> Standing:
    approved, rejected = judged_counts(worker)
    percent = 100 * approved // (approved + rejected) if approved + rejected else 100
    granted = Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
    values = dict(granted.values_list("qualification_type__qualification_type_id", "integer_value"))
    return Standing(
        worker.country, worker.subdivision, {**values, NUMBER_APPROVED: approved, PERCENT_APPROVED: percent}
    )


def judged_counts(worker: WorkerAccount) -> tuple[int, int]:
    """Return how many assignments were approved and rejected, before this marketplace and on it."""
    here = TurkAssignment.objects.filter(worker=worker)
    return (
        worker.approved_count + here.filter(status=TurkAssignment.Status.APPROVED).count(),
        worker.rejected_count + here.filter(status=TurkAssignment.Status.REJECTED).count(),
    )


def requirement_words(requirement: Requirement) -> str:
    """Return the requirement as a worker reads it: "Location is one of US, CA"."""
    locales = [
        "-".join(filter(None, [locale["Country"], locale.get("Subdivision")]))
        for locale in requirement.get("LocaleValues", [])
    ]
    values = ", ".join(locales or map(str, requirement.get("IntegerValues", [])))
    return " ".join(filter(None, [_find_name(requirement), WORDS[requirement["Comparator"]], values]))


def _find_name(requirement: Requirement) -> str:
    kind = requirement["QualificationTypeId"]
    if kind in SYSTEM_QUALIFICATION_TYPES:
        return SYSTEM_QUALIFICATION_TYPES[kind]
    own = QualificationType.objects.filter(qualification_type_id=kind).values_list("name", flat=True).first()
    return own or kind


def guards_discovery(requirement: Requirement) -> bool:
    return _guarded_actions(requirement) == "DiscoverPreviewAndAccept"


def guards_preview(requirement: Requirement) -> bool:
    return _guarded_actions(requirement) != "Accept"


def _guarded_actions(requirement: Requirement) -> str:
    return str(requirement.get("ActionsGuarded", "Accept"))
