"""A worker's browser for tests: opens the page as the marketplace's frame does, and calls what the page calls."""

import json
from typing import Any

from django.test import Client
from django.utils.html import json_script

from hits.models import Assignment, Hit, Publication, Study, offering_for

SITE = "http://testserver/market"
OPENED_AT = "2026-11-16T08:00:00Z"


def publish(study: Study, environment: str = "local") -> None:
    """As if publishing had noted each HIT's id."""
    for hit in study.hits.all():
        Publication.objects.create(
            hit=hit,
            offering=offering_for(study, environment),
            crowd_hit_id=f"HIT{hit.pk}",
            intended_at=OPENED_AT,
            published_at=OPENED_AT,
        )


class Worker:
    """Agrees to the consent text on opening, unless `agrees` is taken away."""

    agrees = True

    def __init__(self, hit: Hit, worker_id: str = "WORKER1", assignment_id: str = "ASSIGNMENT1") -> None:
        self.hit = hit
        self.worker_id = worker_id
        self.assignment_id = assignment_id
        self.client = Client()
        self.data: dict[str, Any] = {}

    def parameters(self, **others: str) -> dict[str, str]:
        return {
            "assignmentId": self.assignment_id,
            "hitId": f"HIT{self.hit.pk}",
            "workerId": self.worker_id,
            "turkSubmitTo": SITE,
            **others,
        }

    def visit(self, **others: str) -> Any:
        return self.client.get(f"/work/{self.hit.study.key}/{self.hit.number}/", self.parameters(**others))

    def open(self, **others: str) -> "Worker":
        response = self.visit(**others)
        assert response.status_code == 200, response.content.decode()
        self.data = page_data(response.content.decode())
        if self.agrees and self.data["mode"] == "work" and not self.data["has_agreed"]:
            self.agree()
        return self

    def agree(self) -> Any:
        return self.call("save", {"consent": self.data["consent_version"]})

    def call(self, name: str, body: Any, token: str | None = None) -> Any:
        return self.client.post(
            f"/work/api/{name}/",
            body if isinstance(body, (str, bytes)) else json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Assignment {self.data['token'] if token is None else token}"},
        )

    def save(self, position: int, areas: dict[str, str], revision: int = 0, **more: Any) -> Any:
        return self.call("save", {"dialogs": [{"position": position, "revision": revision, "areas": areas, **more}]})

    def check(self, position: int, areas: dict[str, str], attempt: int = 1, revision: int = 0) -> Any:
        body = {"position": position, "revision": revision, "areas": areas, "attempt": attempt}
        return self.call("check", body)

    def all_in(self, position: int, area: str) -> dict[str, str]:
        return {str(place): area for place in range(len(self.data["dialogs"][position]["cards"]))}

    def everything(self, area: str = "good") -> list[dict[str, Any]]:
        return [
            {"position": number, "revision": dialog["answer"]["revision"], "areas": self.all_in(number, area)}
            for number, dialog in enumerate(self.data["dialogs"])
        ]

    def submit(self, dialogs: list[dict[str, Any]] | None = None, feedback: str = "", token: str | None = None) -> Any:
        body = {"dialogs": self.everything() if dialogs is None else dialogs, "feedback": feedback}
        return self.call("submit", body, token)

    @property
    def assignment(self) -> Assignment:
        return Assignment.objects.get(crowd_assignment_id=self.assignment_id, crowd_worker_id=self.worker_id)

    def checkpoint(self) -> int:
        return next(number for number, dialog in enumerate(self.data["dialogs"]) if dialog["has_bonus"])

    def gold_place(self, position: int) -> int:
        """Known to the tests only."""
        item = self.hit.items.get(position=position)
        gold = item.gold_card
        assert gold is not None
        texts = [self.card_text(item, card) for card in range(len(item.cards))]
        place: int = self.data["dialogs"][position]["cards"].index(texts[gold])
        return place

    def card_text(self, item: Any, card: int) -> str:
        from generation.models import Candidate

        pks = item.cards[card].candidates
        text = Candidate.objects.get(pk=pks[0]).display_text if pks else item.dialog.display_gold
        return self.hit.study.parsed_design.shown(text)


class Undecided(Worker):
    """Has not said yet whether they take part."""

    agrees = False


def page_data(html: str) -> dict[str, Any]:
    start = json_script({}, "hit").split("{}")[0]
    text = html.split(start, 1)[1].split("</script>", 1)[0]
    found: dict[str, Any] = json.loads(text)
    return found
