"""Prolific's own tables. Nothing outside localprolific reads them; the project uses the API."""

from localprolific.models.bonus_list import BonusLine, BonusList, BonusOrder, PaidBonus
from localprolific.models.panel import BehaviourRow, PanelClock, PanelFault, SigningKey
from localprolific.models.participant import GroupMember, Participant, ParticipantGroup
from localprolific.models.prolific_study import ProlificStudy
from localprolific.models.prolific_submission import TAKES_PLACE, ProlificSubmission
from localprolific.models.subscription import HookDelivery, HookSecret, HookSubscription
from localprolific.models.workspace import ApiToken, Project, WalletEntry, Workspace

__all__ = [
    "TAKES_PLACE",
    "ApiToken",
    "BehaviourRow",
    "BonusLine",
    "BonusList",
    "BonusOrder",
    "GroupMember",
    "HookDelivery",
    "HookSecret",
    "HookSubscription",
    "PaidBonus",
    "PanelClock",
    "PanelFault",
    "Participant",
    "ParticipantGroup",
    "Project",
    "ProlificStudy",
    "ProlificSubmission",
    "SigningKey",
    "WalletEntry",
    "Workspace",
]
