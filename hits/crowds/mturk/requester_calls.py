"""Calls the operations of MTurk that we use; each takes and returns our own types."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from hits.crowds.market import MarketAssignment, MarketBonus, MarketHit
from hits.crowds.mturk.pacing import Pacer
from hits.crowds.mturk.types import HitTypeSpec, NewHit
from hits.crowds.mturk.wire import (
    assignment_from,
    bonus_from,
    cents_from,
    dollars,
    hit_from,
    requirement_parameter,
    translated,
)
from hits.errors import MarketRefused

PAGE_SIZE = 100
LONG_AGO = datetime(2015, 1, 1, tzinfo=UTC)

HIT_EXISTS = "AWS.MechanicalTurk.HitAlreadyExists"
QUALIFICATION_EXISTS = "AWS.MechanicalTurk.QualificationTypeAlreadyExists"


class RequesterCalls:
    """Calls MTurk at a limited pace, and translates its answers and errors."""

    def __init__(self, client: Any, calls_per_second: float = 50, mind: str = "") -> None:
        """`mind` is said with every trouble that may be the service's own."""
        self._client, self._mind = client, mind
        self._pacer = Pacer(calls_per_second)

    # --- Account ---

    def balance_cents(self) -> int:
        return cents_from(self._call("get_account_balance")["AvailableBalance"])

    # --- HITs ---

    def create_hit_type(self, spec: HitTypeSpec) -> str:
        """Return the id of the HIT type. The same spec always gives the same id."""
        answer = self._call(
            "create_hit_type",
            Title=spec.title,
            Description=spec.description,
            Keywords=spec.keywords,
            Reward=dollars(spec.reward_cents),
            AssignmentDurationInSeconds=spec.assignment_duration_seconds,
            AutoApprovalDelayInSeconds=spec.auto_approval_delay_seconds,
            QualificationRequirements=[requirement_parameter(one) for one in spec.requirements],
        )
        return str(answer["HITTypeId"])

    def create_hit(self, new: NewHit) -> str:
        """Create the HIT and return its id. Repeating a request whose answer was lost returns the same id."""
        try:
            answer = self._call(
                "create_hit_with_hit_type",
                HITTypeId=new.hit_type_id,
                Question=new.question_xml,
                MaxAssignments=new.max_assignments,
                LifetimeInSeconds=new.lifetime_seconds,
                RequesterAnnotation=new.annotation,
                UniqueRequestToken=new.token,
            )
        except MarketRefused as refused:
            if refused.code != HIT_EXISTS:
                raise
            return self._checked_hit_id(refused, new)
        return str(answer["HIT"]["HITId"])

    def _checked_hit_id(self, refused: MarketRefused, new: NewHit) -> str:
        """Return the id of the HIT that exists already, if it carries our annotation.

        If it does not, somebody who guessed our token has created it.
        """
        crowd_hit_id = self._hit_id_in(refused, new.annotation)
        if self.get_hit(crowd_hit_id).mark != new.annotation:
            raise MarketRefused(refused.code, f"HIT {crowd_hit_id}, which is not ours, was made with our token.")
        return crowd_hit_id

    def _hit_id_in(self, refused: MarketRefused, annotation: str) -> str:
        if found := re.search(r"\b[0-9A-Z]{30}\b", refused.message):
            return found[0]
        for hit in self.list_hits():  # the message is prose that Amazon may reword one day
            if hit.mark == annotation:
                return hit.crowd_hit_id
        raise refused

    def get_hit(self, crowd_hit_id: str) -> MarketHit:
        return hit_from(self._call("get_hit", HITId=crowd_hit_id)["HIT"])

    def list_hits(self) -> Iterator[MarketHit]:
        """Yield all HITs of the account, newest first, including those of other projects."""
        return (hit_from(found) for found in self._pages("list_hits", "HITs"))

    def expire_hit(self, crowd_hit_id: str) -> None:
        """Take the HIT off the market. Workers who have accepted it may still submit."""
        self._call("update_expiration_for_hit", HITId=crowd_hit_id, ExpireAt=LONG_AGO)

    def extend_hit(self, crowd_hit_id: str, expires_at: datetime) -> None:
        self._call("update_expiration_for_hit", HITId=crowd_hit_id, ExpireAt=expires_at)

    def add_assignments(self, crowd_hit_id: str, count: int, token: str) -> None:
        self._call(
            "create_additional_assignments_for_hit",
            HITId=crowd_hit_id,
            NumberOfAdditionalAssignments=count,
            UniqueRequestToken=token,
        )

    # --- Assignments and money ---

    def list_assignments(self, crowd_hit_id: str) -> Iterator[MarketAssignment]:
        pages = self._pages("list_assignments_for_hit", "Assignments", HITId=crowd_hit_id)
        return (assignment_from(found) for found in pages)

    def get_assignment(self, crowd_assignment_id: str) -> MarketAssignment:
        return assignment_from(self._call("get_assignment", AssignmentId=crowd_assignment_id)["Assignment"])

    def approve(self, crowd_assignment_id: str, feedback: str = "") -> None:
        extra = {"RequesterFeedback": feedback} if feedback else {}
        self._call("approve_assignment", AssignmentId=crowd_assignment_id, **extra)

    def reject(self, crowd_assignment_id: str, reason: str, category: str = "") -> None:
        self._call("reject_assignment", AssignmentId=crowd_assignment_id, RequesterFeedback=reason)

    def send_bonus(self, worker_id: str, assignment_id: str, cents: int, reason: str, token: str) -> None:
        self._call(
            "send_bonus",
            WorkerId=worker_id,
            AssignmentId=assignment_id,
            BonusAmount=dollars(cents),
            Reason=reason,
            UniqueRequestToken=token,
        )

    def list_bonuses_of_hit(self, crowd_hit_id: str) -> Iterator[MarketBonus]:
        pages = self._pages("list_bonus_payments", "BonusPayments", HITId=crowd_hit_id)
        return (bonus_from(found) for found in pages)

    # --- Workers ---

    def own_qualification(self, name: str, description: str) -> str:
        """Return the id of our qualification with this name, and create it if needed: our names are unique."""
        try:
            made = self._call(
                "create_qualification_type", Name=name, Description=description, QualificationTypeStatus="Active"
            )
        except MarketRefused as refused:
            if refused.code == QUALIFICATION_EXISTS and (known := self._find_qualification(name)):
                return known
            raise
        return str(made["QualificationType"]["QualificationTypeId"])

    def _find_qualification(self, name: str) -> str:
        query = {"Query": name, "MustBeRequestable": False, "MustBeOwnedByCaller": True}
        for found in self._pages("list_qualification_types", "QualificationTypes", **query):
            if found["Name"] == name:
                return str(found["QualificationTypeId"])
        return ""

    def give_qualification(self, worker_id: str, qualification_type_id: str, value: int = 1) -> None:
        self._call(
            "associate_qualification_with_worker",
            WorkerId=worker_id,
            QualificationTypeId=qualification_type_id,
            IntegerValue=value,
            SendNotification=False,
        )

    def take_qualification(self, worker_id: str, qualification_type_id: str, reason: str) -> None:
        self._call(
            "disassociate_qualification_from_worker",
            WorkerId=worker_id,
            QualificationTypeId=qualification_type_id,
            Reason=reason,
        )

    def block_worker(self, worker_id: str, reason: str) -> None:
        """Block the worker with Amazon, which harms their record there. Only call this if a researcher chose it."""
        self._call("create_worker_block", WorkerId=worker_id, Reason=reason)

    def unblock_worker(self, worker_id: str, reason: str) -> None:
        self._call("delete_worker_block", WorkerId=worker_id, Reason=reason)

    # --- The wire ---

    def _pages(self, operation: str, key: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        token: dict[str, str] = {}
        while True:
            page = self._call(operation, MaxResults=PAGE_SIZE, **parameters, **token)
            yield from page.get(key, [])
            if not page.get("NextToken"):
                return
            token = {"NextToken": page["NextToken"]}

    def _call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        self._pacer.wait()
        return translated(lambda: getattr(self._client, operation)(**parameters), self._mind)
