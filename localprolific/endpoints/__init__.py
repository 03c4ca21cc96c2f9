"""The operations of the API by method and path: functions `(call, **ids) -> ApiAnswer`, each run in one transaction.

Importing this package fills the table.
"""

from localprolific.endpoints import (
    account_endpoints,
    bonus_endpoints,
    cost_endpoints,
    filter_endpoints,
    group_endpoints,
    hook_endpoints,
    prolific_study_endpoints,
    submission_endpoints,
)
from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, Route, find_route

__all__ = [
    "ApiAnswer",
    "ApiCall",
    "Route",
    "account_endpoints",
    "bonus_endpoints",
    "cost_endpoints",
    "filter_endpoints",
    "find_route",
    "group_endpoints",
    "hook_endpoints",
    "prolific_study_endpoints",
    "submission_endpoints",
]
