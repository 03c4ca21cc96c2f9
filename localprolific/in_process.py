"""Call the local Prolific in the same process, without a network, and issue the tokens that it takes."""

import secrets
import threading
from collections.abc import Mapping
from datetime import datetime

from django.db import connection

from localprolific import api_calls
from localprolific.api_calls import Response
from localprolific.hex_ids import new_id
from localprolific.models import ApiToken, Project, Workspace

__all__ = ["Response", "handle", "issue_token"]


def handle(
    method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None, now: datetime | None = None
) -> Response:
    """Answer a call whose path begins with /api/v1/ and includes the query. AnswerLost, a ConnectionError, means that
    the call acted and its answer was lost."""
    try:
        return api_calls.handle(method, path, body, headers, now)
    finally:
        _close_connection()


def issue_token(currency: str = "GBP", title: str = "Local workspace", **workspace: int | bool) -> str:
    """Return a new token for the workspace of this title and currency, which is made if there is none.

    `workspace` may give a new one's balance_cents, fee_bps, vat_bps, has_screen_outs and has_test_participants.
    """
    found = Workspace.objects.filter(title=title, currency=currency).first()
    if found is None:
        found = Workspace(workspace_id=new_id(), title=title, owner_id=new_id(), currency=currency, **workspace)
        found.full_clean(validate_constraints=False)
        found.save()
        Project.objects.create(project_id=new_id(), workspace=found, title="Project")
    return ApiToken.objects.create(token=secrets.token_urlsafe(48), workspace=found).token


def _close_connection() -> None:
    """Close the database connection of a thread. Otherwise each of the caller's threads would hold one, and so empty
    the pool."""
    if threading.current_thread() is not threading.main_thread() and not connection.in_atomic_block:
        connection.close()
