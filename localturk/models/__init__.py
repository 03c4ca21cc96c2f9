"""The marketplace's own tables. Nothing outside localturk reads them; the project uses the Requester API."""

from localturk.models.account import Account, LedgerEntry, RequestToken
from localturk.models.qualification import Qualification, QualificationRequest, QualificationType
from localturk.models.running import ClockOffset, Fault
from localturk.models.turk_assignment import BonusPayment, TurkAssignment
from localturk.models.turk_hit import HitType, HitTypeRequirement, TurkHit
from localturk.models.worker import WorkerAccount, WorkerBlock, WorkerMessage

__all__ = [
    "Account",
    "BonusPayment",
    "ClockOffset",
    "Fault",
    "HitType",
    "HitTypeRequirement",
    "LedgerEntry",
    "Qualification",
    "QualificationRequest",
    "QualificationType",
    "RequestToken",
    "TurkAssignment",
    "TurkHit",
    "WorkerAccount",
    "WorkerBlock",
    "WorkerMessage",
]
