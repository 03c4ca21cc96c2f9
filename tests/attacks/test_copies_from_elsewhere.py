"""Signed copies of answers that are handed in elsewhere, and limits that strangers would use up for others."""

import pytest
from django.test import Client, RequestFactory, override_settings

from evalplatform.client_address import client_address
from hits.crowds.mturk.client import MTurkMarket, boto_client
from hits.models import Hit, Payment, Publication, Rating, Study, Submission, offering_for
from hits.publishing import block
from hits.syncing import sync
from localturk import in_process, working
from localturk.clock import Clock
from localturk.models import TurkHit, WorkerAccount
from tests.attacks.test_forged_visits import MTurkWorker, _check, on_mturk
from tests.conftest import DEMO
from tests.hits import crowd
from tests.hits.crowd import CrowdWorker, now, people
from tests.hits.working import Worker, publish


@pytest.fixture
def market(transactional_db: None) -> MTurkMarket:
    client = boto_client("http://localturk.invalid", has_own_credentials=False)
    in_process.attach(client)
    return MTurkMarket(client, calls_per_second=1000)


def card_counts(hit: Hit) -> list[int]:
    return [len(item.cards) for item in hit.items.order_by("position")]


def hand_in_from_rehearsal(cheat: WorkerAccount, shown: Hit, held: Hit) -> None:
    """Accepts one HIT on the marketplace, answers another at the rehearsal's address, and hands in that copy."""
    published = Publication.objects.get(hit=held, offering=offering_for(held.study, "local"))
    accepted = working.accept(cheat, TurkHit.objects.get(hit_id=published.crowd_hit_id), Clock().now())
    fields = MTurkWorker(shown, cheat.worker_id, accepted.assignment_id).open().submit().json()["fields"]
    listed = {name: [value] for name, value in fields.items()}
    working.submit(accepted.assignment_id, cheat, listed, Clock().now())


def test_a_copy_of_another_hit_ends_no_sync_and_is_not_believed(demo_study: Study, market: MTurkMarket) -> None:
    crowd.publish(demo_study, market)
    hits = list(demo_study.hits.order_by("number"))
    shown, held = next((one, other) for one in hits for other in hits if card_counts(one) != card_counts(other))
    CrowdWorker(held, people()[1]).finish()
    publish(demo_study, "sandbox")  # a rehearsal of the same study
    hand_in_from_rehearsal(people()[0], shown, held)

    synced = sync(offering_for(demo_study, "local"), market, now)

    assert (synced.collected.new, synced.collected.without_answers, synced.paid.rewards) == (2, 1, 1)
    believed = Rating.objects.values_list("submission__assignment__crowd_worker_id", flat=True).distinct()
    assert list(believed) == [people()[1].worker_id]


def test_who_is_stopped_gets_nothing_paid_by_a_copy_from_the_rehearsal(demo_study: Study, market: MTurkMarket) -> None:
    crowd.publish(demo_study, market)
    publish(demo_study, "sandbox")
    hit, cheat = demo_study.hits.get(number=1), people()[0]
    block(offering_for(demo_study, "local"), cheat.worker_id, "soft block", "Answers at random.", None, now())
    hand_in_from_rehearsal(cheat, hit, hit)

    sync(offering_for(demo_study, "local"), market, now)

    assert Submission.objects.get().problem != ""
    assert not Payment.objects.exists()


def test_work_that_is_returned_after_it_was_sent_to_us_fills_no_place(demo_study: Study, market: MTurkMarket) -> None:
    crowd.publish(demo_study, market)
    hit = demo_study.hits.get(number=0)
    for account in people()[: hit.assignments]:
        worker = CrowdWorker(hit, account)
        worker.submit()
        worker.give_back()

    published = Publication.objects.get(hit=hit)
    rightful = people()[hit.assignments]
    held = working.accept(rightful, TurkHit.objects.get(hit_id=published.crowd_hit_id), Clock().now())
    page = Worker(hit, rightful.worker_id, held.assignment_id).visit(hitId=published.crowd_hit_id)

    assert page.status_code == 200


def test_one_address_does_not_use_up_the_bonus_checks_of_others(example_corpus: None) -> None:
    hit = on_mturk()[0]
    stranger = MTurkWorker(hit, "F", "INVENTED", "203.0.113.5").open()

    statuses = [_check(stranger, attempt).status_code for attempt in range(1, 32)]

    assert statuses == [200] * 30 + [409]
    assert _check(MTurkWorker(hit, "ALICE", "REAL").open(), 1).status_code == 200


def test_other_ids_give_the_same_worker_no_further_attempts(example_corpus: None) -> None:
    limited = {**DEMO["checkpoints"], "max_attempts": 1, "counts": "first check"}
    hit = on_mturk(checkpoints=limited)[0]

    statuses = [_check(MTurkWorker(hit, "SAME", f"ID{number}").open(), 1).status_code for number in range(3)]

    assert statuses == [200, 409, 409]


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("203.0.113.9:4711", "203.0.113.9"),
        ("[2001:db8::1]:4", "2001:db8::"),
        ("unknown", "unreadable"),
        ("_hidden", "unreadable"),
    ],
)
def test_an_entry_of_the_proxy_that_is_odd_lifts_no_limit(written: str, address: str) -> None:
    request = RequestFactory().get("/", HTTP_X_FORWARDED_FOR=f"198.51.100.1, {written}")

    with override_settings(PROXY_COUNT=1):
        assert client_address(request) == address


def test_forms_of_files_break_no_door_for_programs(demo_study: Study, client: Client) -> None:
    publish(demo_study)
    token = Worker(demo_study.hits.get(number=0)).open().data["token"]

    saved = client.post("/work/api/save/", {"a": "b"}, headers={"Authorization": f"Assignment {token}"})
    called = client.post("/localturk/api/", {"a": "b"})

    assert saved.status_code in (400, 415)
    assert called.status_code < 500
