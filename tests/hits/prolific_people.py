"""Participants who go the whole way: reserve on the local Prolific, work on our page, complete there with the code."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from hits.models import Assignment, Hit, Offering
from localprolific import participating
from localprolific.models import Participant, ProlificStudy, ProlificSubmission
from localprolific.panel_clock import Clock
from localprolific.seeding import new_participant
from tests.hits.working import Worker


def study_there(offering: Offering) -> ProlificStudy:
    return ProlificStudy.objects.undeleted().get(internal_name__startswith=f"EvalPlatform {offering.study.key} ")


class Rater(Worker):
    """A participant from Prolific. They do not know which HIT they will get."""

    def __init__(self, offering: Offering, name: str = "Ada", who: Participant | None = None) -> None:
        self.offering = offering
        self.who = who or new_participant(name, is_simulated=False)
        super().__init__(offering.study.hits.get(number=0), self.who.participant_id, "")
        self.address = ""

    def reserve(self) -> "Rater":
        there = participating.reserve(self.who, study_there(self.offering), Clock().now())
        self.assignment_id = there.submission_id
        self.address = participating.start(there, Clock().now())
        return self

    @property
    def there(self) -> ProlificSubmission:
        return ProlificSubmission.objects.get(submission_id=self.assignment_id)

    def parameters(self, **others: str) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.address).query)) | others

    def visit(self, **others: str) -> Any:
        return self.client.get(urlsplit(self.address).path, self.parameters(**others))

    def open(self, **others: str) -> "Rater":
        if not self.address:
            self.reserve()
        super().open(**others)
        return self

    def win(self) -> list[dict[str, Any]]:
        """Return answers with every human reply among the best."""
        self.hit = self.assignment.hit
        return self.everything("good")

    def finish(self) -> Hit:
        """Work, hand in, and follow our page back to Prolific."""
        self.open()
        told = self.submit(self.win()).json()
        assert told["way"] == "redirect", told
        code = dict(parse_qsl(urlsplit(told["action"]).query))["cc"]
        participating.complete(self.who, code, Clock().now())
        return self.assignment.hit

    @property
    def assignment(self) -> Assignment:
        return Assignment.objects.get(offering=self.offering, crowd_assignment_id=self.assignment_id)

    @property
    def paid_cents(self) -> list[int]:
        """Everything that Prolific has paid for this submission."""
        return list(self.there.wallet_entries.order_by("pk").values_list("amount_cents", flat=True))
