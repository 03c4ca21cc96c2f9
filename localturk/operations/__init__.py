"""The operations of the Requester API, by name: functions `(params, now) -> answer`, each run in one transaction.

Importing this package fills the registry.
"""

from localturk.operations import (
    account_balance,
    blocks,
    bonuses,
    granted_qualifications,
    hits,
    listing,
    notifying_workers,
    submitted_work,
)
from localturk.operations.operation_table import NOT_OFFERED, OPERATIONS

__all__ = [
    "NOT_OFFERED",
    "OPERATIONS",
    "account_balance",
    "blocks",
    "bonuses",
    "granted_qualifications",
    "hits",
    "listing",
    "notifying_workers",
    "submitted_work",
]
