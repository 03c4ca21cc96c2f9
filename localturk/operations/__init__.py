"""Every operation of the Requester API by its name: `(params, now) -> answer`, run in one transaction.

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
