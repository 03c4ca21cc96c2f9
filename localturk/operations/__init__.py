"""The operations of the Requester API, by name: functions `(params, now) -> answer`, each run in one transaction.

Importing this package fills the registry.
"""

from localturk.operations import account, assignments, blocks, bonuses, hits, listing, qualifications, workers
from localturk.operations.registry import NOT_OFFERED, OPERATIONS

__all__ = [
    "NOT_OFFERED",
    "OPERATIONS",
    "account",
    "assignments",
    "blocks",
    "bonuses",
    "hits",
    "listing",
    "qualifications",
    "workers",
]
