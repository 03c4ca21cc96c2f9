"""What participants do in these tests."""

from localprolific import participating
from localprolific.models import Participant, ProlificStudy, ProlificSubmission
from localprolific.panel_clock import Clock


def reserve(study_id: str, who: Participant) -> ProlificSubmission:
    return participating.reserve(who, ProlificStudy.objects.get(study_id=study_id), Clock().now())


def begin(study_id: str, who: Participant) -> ProlificSubmission:
    """Their submission, when they have left for our page."""
    submission = reserve(study_id, who)
    participating.start(submission, Clock().now())
    return submission


def do(study_id: str, who: Participant, code: str = "DONE1") -> str:
    """The id of their submission, when they are done."""
    begin(study_id, who)
    return participating.complete(who, code, Clock().now()).submission_id


def give_back(submission_id: str) -> None:
    participating.return_submission(ProlificSubmission.objects.get(submission_id=submission_id), Clock().now())
