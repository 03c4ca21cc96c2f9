"""Consent is an act: stored with its time and the text's version, and nothing is kept without it."""

from datetime import timedelta
from hashlib import sha256

import pytest
from django.utils import timezone

from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.models import Answer, Assignment, Study, offering_for
from tests.hits import crowd
from tests.hits.working import Undecided, Worker, publish


@pytest.fixture
def worker(demo_study: Study) -> Worker:
    publish(demo_study)
    return Undecided(demo_study.hits.get(number=0)).open()


def test_agreeing_stores_the_time_and_the_version_of_the_text(worker: Worker, demo_study: Study) -> None:
    before = timezone.now()

    assert worker.agree().status_code == 200

    stored = worker.assignment
    text: str = demo_study.design["task"]["consent"]
    assert stored.consent_version == worker.data["consent_version"] == sha256(text.encode()).hexdigest()
    assert stored.consented_at is not None
    assert before <= stored.consented_at <= timezone.now()
    assert worker.open().data["has_agreed"] is True


def test_the_first_save_may_carry_both_the_agreement_and_an_answer(worker: Worker) -> None:
    body = {
        "consent": worker.data["consent_version"],
        "dialogs": [{"position": 0, "revision": 0, "areas": {"0": "good"}}],
    }

    assert worker.call("save", body).json()["dialogs"][0]["revision"] == 1


def test_the_first_agreement_counts_and_the_same_again_changes_nothing(worker: Worker) -> None:
    worker.agree()
    earlier = timezone.now() - timedelta(minutes=5)
    Assignment.objects.update(consented_at=earlier)

    assert worker.agree().status_code == 200
    assert worker.assignment.consented_at == earlier


def test_who_did_a_hit_of_the_study_before_returns_but_agrees_anew(demo_study: Study) -> None:
    publish(demo_study)
    first, second = demo_study.hits.all()[:2]
    Worker(first, assignment_id="A1").open()
    assert Undecided(second, assignment_id="A2").open().data["is_returning"] is False  # has not handed it in

    Worker(first, assignment_id="A1").open().submit()
    Assignment.objects.filter(crowd_assignment_id="A1").update(confirmed_at=timezone.now())
    again = Undecided(second, assignment_id="A2").open()

    assert (again.data["is_returning"], again.data["has_agreed"]) == (True, False)
    assert again.save(0, {"0": "good"}).json()["code"] == "consent-missing"
    assert Undecided(second, "SOMEONE-ELSE", "A3").open().data["is_returning"] is False


def test_agreements_come_back_from_the_marketplaces_copy(demo_study: Study, market: MTurkMarket) -> None:
    crowd.publish(demo_study, market, hits=1)
    worker = crowd.CrowdWorker(demo_study.hits.get(number=0), crowd.people()[0]).finish()
    agreed = worker.assignment
    Answer.objects.all().delete()
    Assignment.objects.all().delete()

    collect(offering_for(demo_study, "local"), market, crowd.now())

    assert worker.assignment.pk != agreed.pk
    assert worker.assignment.consent_version == agreed.consent_version
    assert worker.assignment.consented_at == agreed.consented_at
