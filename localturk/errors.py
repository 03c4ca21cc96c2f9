"""Define the errors that the marketplace answers with, with MTurk's codes and messages.

Codes are those of Amazon's SDKs and documentation, unless a comment says that they are a guess. Messages follow what
MTurk was seen to answer, because clients look for these words.
"""


class TurkError(Exception):
    """An error as it goes over the wire: HTTP status, type, message and TurkErrorCode."""

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
    """The client gets no answer at all. Each transport does this in its own way."""


def does_not_exist(what: str, identifier: str) -> RequestError:
    shown = "Hit" if what == "HIT" else what
    return RequestError(f"AWS.MechanicalTurk.{what}DoesNotExist", f"{shown} {identifier} does not exist.")


def wrong_state(what: str, allowed: str, current: str) -> RequestError:
    """Make the error for an operation that the present status does not allow. `what` is Assignment, HIT, Qualification
    or QualificationRequest."""
    message = f"This operation can be called with a status of: {allowed}. The current status is: {current}."
    return RequestError(f"AWS.MechanicalTurk.Invalid{what}State", message)


def undeletable(current: str) -> RequestError:
    """Make the error for a HIT that can't be deleted. Dallinger looks for these words of MTurk, which also come if the
    state is right but an assignment is neither approved nor rejected."""
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
