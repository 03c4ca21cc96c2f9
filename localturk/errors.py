"""What the marketplace answers instead of a result.

Codes are those of Amazon's own SDKs and documentation unless a comment says that they are a guess; the wording of the
messages follows what MTurk was seen to say, because clients look for it there.
"""


class TurkError(Exception):
    """An error in the shape of the wire: HTTP status, type, message, TurkErrorCode."""

    status = 400
    type = "RequestError"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class RequestError(TurkError):
    """The request is at fault; a client must not repeat it."""


class ServiceFault(TurkError):
    """The service is at fault; clients repeat the call."""

    status = 500
    type = "ServiceFault"

    def __init__(self) -> None:
        super().__init__("AWS.MechanicalTurk.ServiceFault", "The service is temporarily unable. Try your call again.")


class Throttled(TurkError):
    type = "ThrottlingException"

    def __init__(self) -> None:
        super().__init__("ThrottlingException", "Rate exceeded")


class ConnectionDropped(Exception):
    """No answer at all: each transport shows it in its own way."""


def does_not_exist(what: str, identifier: str) -> RequestError:
    shown = "Hit" if what == "HIT" else what
    return RequestError(f"AWS.MechanicalTurk.{what}DoesNotExist", f"{shown} {identifier} does not exist.")


def wrong_state(what: str, allowed: str, current: str) -> RequestError:
    """`what` is Assignment, HIT, Qualification or QualificationRequest."""
    message = f"This operation can be called with a status of: {allowed}. The current status is: {current}."
    return RequestError(f"AWS.MechanicalTurk.Invalid{what}State", message)


def undeletable(current: str) -> RequestError:
    """MTurk's own words, which Dallinger looks for, also where the state is right and an assignment is not judged."""
    message = (
        f"This HIT is currently in the state '{current}'.  "
        "This operation can be called with a status of: Reviewing, Reviewable"
    )
    return RequestError("AWS.MechanicalTurk.InvalidHITState", message)


def invalid(parameter: str, problem: str) -> RequestError:
    return RequestError("AWS.MechanicalTurk.InvalidParameterValue", f"{parameter} {problem}")


def insufficient_funds() -> RequestError:
    message = "This Requester has insufficient funds in their account to complete this transaction."
    return RequestError("AWS.MechanicalTurk.InsufficientFunds", message)
