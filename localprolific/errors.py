"""Define the errors that Prolific answers with, in its two forms: nested mostly, and flat at some endpoints.

Statuses and forms are Prolific's. The numbers of `error_code` and the words are ours, because nobody published them.
"""

import json
from typing import Any


class ProlificError(Exception):
    """An error as it goes over the wire."""

    status = 400
    title = "Bad request"

    def __init__(self, detail: str | dict[str, Any] | list[Any]) -> None:
        super().__init__(str(detail))
        self.detail = detail

    def nested(self) -> dict[str, Any]:
        shape = {"status": self.status, "title": self.title, "error_code": 140_000 + self.status, "detail": self.detail}
        return {"error": {**shape, "additional_information": "/api/v1/errors/"}}

    def flat(self) -> dict[str, Any]:
        detail = self.detail if isinstance(self.detail, str) else json.dumps(self.detail)
        return {"message": self.title, "detail": detail}


class Invalid(ProlificError):
    pass


class NotSignedIn(ProlificError):
    status = 401
    title = "Authentication failed"


class NotFound(ProlificError):
    status = 404
    title = "Not found"


class NotAllowed(ProlificError):
    status = 405
    title = "Method not allowed"


class Unprocessable(ProlificError):
    status = 422
    title = "Unprocessable entity"


class TooMany(ProlificError):
    status = 429
    title = "Too many requests"

    def __init__(self, detail: str = "Too many requests. Try again in a moment.") -> None:
        super().__init__(detail)


class Broken(ProlificError):
    status = 500
    title = "Internal server error"

    def __init__(self) -> None:
        super().__init__("Something went wrong on our side.")


class AnswerLost(ConnectionError):
    """The client gets no answer at all, although the call acted. Each transport does this in its own way."""


class Refused(Exception):
    """A participant can't do this; the message says why."""


def insufficient_funds() -> Invalid:
    return Invalid("You do not have enough funds in your account. Top up your balance and try again.")


def missing(field: str) -> Invalid:
    return Invalid({field: ["This field is required."]})


def wrong(field: str, problem: str) -> Invalid:
    return Invalid({field: [problem]})
