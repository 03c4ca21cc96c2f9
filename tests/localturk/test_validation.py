"""What botocore lets through and MTurk does not. The rules are the same however the request came."""

import json
from typing import Any

import pytest
from django.test import Client

from localturk.models import TurkHit
from tests.localturk.acting import XSD, code_of, create_hit, external_question, hit_params, refusal_of

LOCALE = "00000000000000000071"
APPROVED = "00000000000000000040"
REFUSED = "AWS.MechanicalTurk.InvalidParameterValue"


def requirement(**changes: Any) -> list[dict[str, Any]]:
    return [{"QualificationTypeId": APPROVED, "Comparator": "GreaterThan", "IntegerValues": [100], **changes}]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Title": ""}, "AWS.ParameterOutOfRange"),
        ({"Title": "x" * 129}, "AWS.ParameterOutOfRange"),
        ({"Description": ""}, "AWS.ParameterOutOfRange"),
        ({"Description": "x" * 2001}, "AWS.ParameterOutOfRange"),
        ({"Keywords": "x" * 1001}, "AWS.ParameterOutOfRange"),
        ({"RequesterAnnotation": "x" * 256}, "AWS.ParameterOutOfRange"),
        ({"UniqueRequestToken": "x" * 65}, "AWS.ParameterOutOfRange"),
        ({"Reward": "much"}, "InvalidParameterValue"),
        ({"Reward": "-1"}, "InvalidParameterValue"),
        ({"Reward": "0.401"}, "InvalidParameterValue"),
        ({"Reward": "0.40\n"}, "InvalidParameterValue"),
        ({"Reward": "٣"}, "InvalidParameterValue"),
        ({"Reward": "0.00"}, "AWS.ParameterOutOfRange"),
        ({"AssignmentDurationInSeconds": 29}, "AWS.ParameterOutOfRange"),
        ({"AssignmentDurationInSeconds": 31_536_001}, "AWS.ParameterOutOfRange"),
        ({"LifetimeInSeconds": 29}, "AWS.ParameterOutOfRange"),
        ({"LifetimeInSeconds": 31_536_001}, "AWS.ParameterOutOfRange"),
        ({"AutoApprovalDelayInSeconds": -1}, "AWS.ParameterOutOfRange"),
        ({"AutoApprovalDelayInSeconds": 2_592_001}, "AWS.ParameterOutOfRange"),
        ({"MaxAssignments": 0}, "AWS.ParameterOutOfRange"),
        ({"MaxAssignments": 1_000_000_001}, "AWS.ParameterOutOfRange"),
        ({"Question": None}, "AWS.MissingParameters"),
        ({"Question": None, "HITLayoutId": "3LAYOUT"}, "HITLayoutDoesNotExist"),
        ({"Question": "<ExternalQuestion>"}, "XMLParseError"),
        ({"Question": f'<!DOCTYPE a [<!ENTITY b "c">]><ExternalQuestion xmlns="{XSD}"/>'}, "XMLParseError"),
        (
            {"Question": "<ExternalQuestion><ExternalURL>https://a.org</ExternalURL></ExternalQuestion>"},
            "XMLParseError",
        ),
        ({"Question": external_question().replace("800", "tall")}, "XMLParseError"),
        ({"Question": external_question("http://eval.example.org/")}, "InvalidParameterValue"),
        ({"Question": external_question("http://localhost.example.org/")}, "InvalidParameterValue"),
        ({"Question": external_question("https://a.org/" + "x" * 65_536)}, "InvalidParameterValue"),
        ({"QualificationRequirements": requirement() * 11}, "InvalidParameterValue"),
        ({"QualificationRequirements": requirement(Comparator="Above")}, "AWS.InvalidEnumeratedParameter"),
        ({"QualificationRequirements": requirement(Comparator="Exists")}, "InvalidParameterValue"),
        ({"QualificationRequirements": requirement(IntegerValues=[])}, "InvalidParameterValue"),
        ({"QualificationRequirements": requirement(IntegerValues=[1, 2])}, "InvalidParameterValue"),
        ({"QualificationRequirements": requirement(LocaleValues=[{"Country": "US"}])}, "InvalidParameterValue"),
        ({"QualificationRequirements": requirement(QualificationTypeId="3NONE")}, "QualificationTypeDoesNotExist"),
    ],
)
def test_a_hit_outside_the_documented_limits_is_refused(
    db: None, in_process_turk: Any, changes: dict[str, Any], code: str
) -> None:
    assert code_of(in_process_turk.create_hit, **hit_params(**changes)) == code
    assert not TurkHit.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {
            "Title": "x" * 128,
            "Description": "x" * 2000,
            "RequesterAnnotation": "x" * 255,
            "UniqueRequestToken": "x" * 64,
        },
        {"Reward": "5"},
        {"Reward": "5."},
        {"Reward": "0.4"},
        {"AssignmentDurationInSeconds": 30, "LifetimeInSeconds": 30, "AutoApprovalDelayInSeconds": 0},
        {"AssignmentDurationInSeconds": 31_536_000, "AutoApprovalDelayInSeconds": 2_592_000},
        {"Question": external_question("http://127.0.0.1:8000/work/1/?a=b&amp;c=d")},
        {"QualificationRequirements": requirement() * 10},
    ],
)
def test_a_hit_at_the_limits_is_made(db: None, in_process_turk: Any, changes: dict[str, Any]) -> None:
    assert create_hit(in_process_turk, **changes)


def test_thirty_countries_are_enough(db: None, in_process_turk: Any) -> None:
    countries = [{"Country": f"{a}{b}"} for a in "ABCD" for b in "ABCDEFGH"]

    def wanted(count: int) -> list[dict[str, Any]]:
        return [{"QualificationTypeId": LOCALE, "Comparator": "In", "LocaleValues": countries[:count]}]

    assert create_hit(in_process_turk, QualificationRequirements=wanted(30))
    refused = hit_params(QualificationRequirements=wanted(31))
    assert code_of(in_process_turk.create_hit, **refused) == "InvalidParameterValue"


def test_other_operations_have_their_limits_too(db: None, in_process_turk: Any) -> None:
    turk = in_process_turk

    assert code_of(turk.list_hits, MaxResults=101) == "AWS.ParameterOutOfRange"
    assert code_of(turk.get_hit, HITId="lower case") == "InvalidParameterValue"
    letter = {"Subject": "News", "MessageText": "More work"}
    assert code_of(turk.notify_workers, WorkerIds=["AX"] * 101, **letter) == "AWS.ParameterOutOfRange"
    assert (
        code_of(turk.notify_workers, **{**letter, "Subject": "x" * 201}, WorkerIds=["AX"]) == "AWS.ParameterOutOfRange"
    )
    code, message = refusal_of(turk.create_worker_block, WorkerId="AXXXXXXXXXXXXX", Reason="Spam")
    assert (code, message) == ("AWS.MechanicalTurk.InvalidParameterValue", "WorkerId is invalid.")


@pytest.mark.parametrize("moment", [1e300, -1e300, 1e20])
def test_a_moment_that_no_calendar_has_is_refused(db: None, in_process_turk: Any, moment: float) -> None:
    """As a program sends it that writes its own JSON; boto3 would not."""
    hit_id = create_hit(in_process_turk)
    body = json.dumps({"HITId": hit_id, "ExpireAt": moment})
    target = {"X-Amz-Target": "MTurkRequesterServiceV20170117.UpdateExpirationForHIT"}

    answer = Client().post("/localturk/api/", body, content_type="application/x-amz-json-1.1", headers=target)

    assert (answer.status_code, json.loads(answer.content)["TurkErrorCode"]) == (400, REFUSED)
