"""Every operation of the Requester API by its name: `(params, now) -> answer`, run in one transaction.

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
