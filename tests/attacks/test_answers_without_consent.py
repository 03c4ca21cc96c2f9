"""A page that is made to send answers without a worker's consent."""

from hashlib import sha256

import pytest

from hits.models import Answer, BonusCheck, Study
from tests.hits.working import Undecided, Worker, publish


@pytest.fixture
def worker(demo_study: Study) -> Worker:
    publish(demo_study)
    return Undecided(demo_study.hits.get(number=0)).open()


def test_nothing_is_kept_of_who_has_not_agreed(worker: Worker) -> None:
    position = worker.checkpoint()
    refusals = [
        worker.save(0, {"0": "good"}),
        worker.check(position, worker.all_in(position, "good")),
        worker.submit(),
    ]

    assert [(one.status_code, one.json()["code"]) for one in refusals] == [(403, "consent-missing")] * 3
    assert refusals[0].json()["can_open_again"] is True
    assert not Answer.objects.exists()
    assert not BonusCheck.objects.exists()
    assert worker.assignment.submitted_at is None
    assert worker.call("save", {"step": "welcome"}).status_code == 200  # where the page is tells nothing of anyone


def test_agreeing_to_another_text_than_the_studys_is_refused(worker: Worker) -> None:
    for version in (sha256(b"something else").hexdigest(), "yes"):
        response = worker.call("save", {"consent": version})
        assert (response.status_code, response.json()["code"]) == (400, "invalid")
    assert worker.assignment.consented_at is None
