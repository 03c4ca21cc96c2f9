"""Translates MTurk's answers and errors: which refusals concern the account, and which calls may be tried again."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, NoRegionError, PartialCredentialsError

from evalplatform.errors import EvalPlatformError
from hits.crowds.market import MarketAssignment, MarketBonus, MarketHit
from hits.crowds.mturk.types import Requirement
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Submission

# Refusals that concern the account, not a single HIT: the next call would meet the same.
ABOUT_THE_ACCOUNT = {
    "AWS.MechanicalTurk.InsufficientFunds",
    "AWS.NotAuthorized",
    "AccessDeniedException",
    "ExpiredTokenException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "RequestExpired",
    "UnrecognizedClientException",
}
HIT_DOES_NOT_EXIST = "AWS.MechanicalTurk.HITDoesNotExist"
_COME_AGAIN = {"ServiceFault", "ThrottlingException", "Throttling", "RequestLimitExceeded"}


def translated(call: Callable[[], dict[str, Any]], mind: str = "") -> dict[str, Any]:
    """Make the call, and turn botocore's many errors into our two: try again later, or refused by MTurk.

    `mind` is added where the service itself may be what is wrong: it does not answer, or refuses the account.
    """
    mind = mind and f" {mind}"
    try:
        return call()
    except ClientError as error:
        details = error.response.get("Error", {})
        code = str(error.response.get("TurkErrorCode") or details.get("Code", ""))
        message = str(details.get("Message") or error.response.get("Message", "") or error)
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
        if details.get("Code") in _COME_AGAIN or status >= 500:
            raise MarketUnavailable(
                f"The marketplace does not accept requests right now ({code}): {message}{mind}"
            ) from error
        if code in ABOUT_THE_ACCOUNT:
            message += mind
        raise MarketRefused(code, message, code in ABOUT_THE_ACCOUNT, code == HIT_DOES_NOT_EXIST) from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise EvalPlatformError(
            "There are no AWS credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, "
            f"in this shell; EvalPlatform never stores them.{mind}"
        ) from error
    except NoRegionError as error:
        raise EvalPlatformError("The AWS region must be us-east-1: Mechanical Turk has no other.") from error
    except BotoCoreError as error:
        raise MarketUnavailable(f"The marketplace can't be reached: {error}.{mind}") from error


def requirement_parameter(one: Requirement) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if one.values and isinstance(one.values[0], str):
        values["LocaleValues"] = [{"Country": country} for country in one.values]
    elif one.values:
        values["IntegerValues"] = list(one.values)
    return {
        "QualificationTypeId": one.qualification_type_id,
        "Comparator": one.comparator,
        "ActionsGuarded": one.guarded,
        **values,
    }


def hit_from(found: dict[str, Any]) -> MarketHit:
    return MarketHit(
        crowd_hit_id=found["HITId"],
        mark=found.get("RequesterAnnotation", ""),
        is_open=found["HITStatus"] in ("Assignable", "Unassignable"),
        is_deleted=found["HITStatus"] == "Disposed",
        max_assignments=found["MaxAssignments"],
        expires_at=found["Expiration"],
        pending_count=found["NumberOfAssignmentsPending"],
        available_count=found["NumberOfAssignmentsAvailable"],
        completed_count=found["NumberOfAssignmentsCompleted"],
    )


def assignment_from(found: dict[str, Any]) -> MarketAssignment:
    return MarketAssignment(
        crowd_assignment_id=found["AssignmentId"],
        crowd_hit_id=found["HITId"],
        crowd_worker_id=found["WorkerId"],
        status=Submission.Status(found["AssignmentStatus"]),
        accepted_at=found["AcceptTime"],
        submitted_at=found.get("SubmitTime"),
        auto_approval_at=found.get("AutoApprovalTime"),
        answer=found.get("Answer", ""),
    )


def bonus_from(found: dict[str, Any]) -> MarketBonus:
    return MarketBonus(
        crowd_worker_id=found["WorkerId"],
        crowd_assignment_id=found["AssignmentId"],
        cents=cents_from(found["BonusAmount"]),
        reason=found.get("Reason", ""),
        granted_at=found["GrantTime"],
    )


def dollars(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def cents_from(dollars: str) -> int:
    return int(Decimal(dollars) * 100)
