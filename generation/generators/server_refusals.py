"""Tell whether a server's refusal concerns one dialog or all of them, and whether to try again."""

import re
from typing import Any

TRY_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)
MOST_REASON_CHARACTERS = 300

_WRONG_FOR_ONE = (400, 413, 422, 500)  # llama.cpp has answered 500 to a context that was too long
_WRONG_FOR_ALL = (401, 402, 403, 404, 405)
_TOO_LONG = re.compile(r"context[ _](length|size|window)|maximum model length|too many tokens", re.IGNORECASE)
_NOT_BEGUN_BY_A_USER = re.compile(r"roles? must|first message", re.IGNORECASE)
_HELD_BACK = re.compile(
    r"content[ _](filter|management|policy)|moderation|flagged|safety|invalid_prompt", re.IGNORECASE
)
_NO_CREDIT = re.compile(
    r"insufficient[ _](quota|funds|balance|credits?)|exceeded your current quota|credit balance|billing",
    re.IGNORECASE,
)
_WRONG_REQUEST = re.compile(
    r"unsupported[ _](parameter|value)|unknown[ _](parameter|argument)|unrecognized|not permitted|extra_forbidden"
    r"|model_not_found|model .{0,200}(does not exist|not found)",
    re.IGNORECASE,
)


def is_too_long(status: int, body: Any) -> bool:
    return status in _WRONG_FOR_ONE and bool(_TOO_LONG.search(_words(body)))


def wants_a_first_user(status: int, body: Any) -> bool:
    """Return whether the server's chat template insists that a user begins."""
    return status in _WRONG_FOR_ONE and bool(_NOT_BEGUN_BY_A_USER.search(_words(body)))


def is_about_all(status: int, body: Any, parameters: set[str]) -> bool:
    """Return whether the refusal concerns the model, the account, or the parameters that every request has, so that it
    would be the same for any other dialog."""
    words = _words(body)
    is_about_one = is_too_long(status, body) or wants_a_first_user(status, body) or _HELD_BACK.search(words)
    if status == 200 or is_about_one:
        return False
    if status in _WRONG_FOR_ALL:
        return True
    if status in (400, 422):
        is_parameter = re.split(r"[.\[]", _field(body, "param"))[0] in parameters
        return is_parameter or bool(_NO_CREDIT.search(words) or _WRONG_REQUEST.search(words))
    return status == 429 and bool(_NO_CREDIT.search(words))


def is_worth_another_try(status: int, body: Any, parameters: set[str]) -> bool:
    """Return whether the same request may succeed later. It can't if another request or other settings are needed."""
    calls_for_another = is_too_long(status, body) or wants_a_first_user(status, body)
    return status in TRY_AGAIN and not calls_for_another and not is_about_all(status, body, parameters)


def complaint(body: Any) -> str:
    """Return what the server says is wrong, in one line."""
    error = body.get("error", body) if isinstance(body, dict) else ""
    message = error.get("message", "") if isinstance(error, dict) else error
    return " ".join(str(message).split())[:MOST_REASON_CHARACTERS] or "it does not say why"


def _words(body: Any) -> str:
    return " ".join([_field(body, "code"), _field(body, "type"), complaint(body)])


def _field(body: Any, name: str) -> str:
    error = body.get("error", body) if isinstance(body, dict) else None
    value = error.get(name) if isinstance(error, dict) else None
    return value if isinstance(value, str) else ""
