"""HITs that were deleted on the marketplace, or lead nowhere, are put up again: what is missing, for other workers."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client, override_settings
from pytest_django.live_server_helper import LiveServer

from evalplatform.errors import EvalPlatformError
from hits.budgeting import budget_of
from hits.crowds.mturk.client import MTurkMarket
from hits.models import Hit, Publication, Rating, Study, Submission, offering_for
from hits.publishing import plan_publishing
from hits.replacing import Replaced, put_up_again, replace_lost_assignments
from hits.replacing.putting_up_again import PutUpAgain
from hits.syncing import sync
from hits.tasks import put_hits_up_again
from localturk.faults import Kind, add_fault
from localturk.models import TurkHit, WorkerAccount
from localturk.seeding import ensure_worker_accounts
from tests.hits.crowd import CrowdWorker, now, publish
from tests.pages import html_of

PAGE = "https://eval.example.org/work"
EACH = 60


@pytest.fixture
def hit(demo_study: Study, market: MTurkMarket) -> Hit:
    """Two of its four assignments are done and paid; then it was deleted there by hand."""
    publish(demo_study, market, hits=2)
    hit = demo_study.hits.get(number=0)
    for account in accounts()[:2]:
        CrowdWorker(hit, account).finish()
    sync(offering_for(demo_study, "local"), market, now)
    delete(hit, market)
    return hit


def accounts() -> list[WorkerAccount]:
    ensure_worker_accounts()
    WorkerAccount.objects.update(country="US", approved_count=500, rejected_count=0)
    return list(WorkerAccount.objects.order_by("pk"))


def delete(hit: Hit, market: MTurkMarket) -> None:
    crowd_hit_id = Publication.objects.current().get(hit=hit).crowd_hit_id
    market.expire_hit(crowd_hit_id)
    market._client.delete_hit(HITId=crowd_hit_id)


def again(study: Study, market: MTurkMarket, page_url: str = PAGE, **more: Any) -> PutUpAgain:
    return put_up_again(offering_for(study, "local"), market, page_url, now, **more)


def test_a_hit_deleted_there_is_seen_at_the_next_sync_and_costs_no_more(hit: Hit, market: MTurkMarket) -> None:
    first, second = (
        sync(offering_for(hit.study, "local"), market, now),
        sync(offering_for(hit.study, "local"), market, now),
    )

    assert (first.collected.gone, second.collected.gone) == (1, 0)
    assert Publication.objects.get(hit=hit).gone_at is not None
    assert budget_of(offering_for(hit.study, "local")).open_cents == 4 * EACH  # of the other HIT
    assert hit.study.events.latest("pk").text == "found that 1 HIT was deleted on the local market"
    assert Rating.objects.values("submission").distinct().count() == 2


def test_what_is_missing_of_it_is_put_up_again_once(hit: Hit, market: MTurkMarket) -> None:
    sync(offering_for(hit.study, "local"), market, now)

    shown = again(hit.study, market, is_dry_run=True)
    first, second = again(hit.study, market), again(hit.study, market)

    assert (shown.deleted, shown.assignments, shown.cents, shown.published) == (1, 2, 2 * EACH, 0)
    assert (first.published, second) == (1, PutUpAgain())
    new = Publication.objects.current().get(hit=hit)
    there = TurkHit.objects.get(hit_id=new.crowd_hit_id)
    assert (there.status, there.max_assignments, new.round, new.page_url) == ("Assignable", 2, 1, PAGE)
    assert budget_of(offering_for(hit.study, "local")).open_cents == 4 * EACH + 2 * EACH
    assert replace_lost_assignments(offering_for(hit.study, "local"), market, now) == Replaced()
    assert not plan_publishing(offering_for(hit.study, "local"), 1).begun_count


def test_who_did_it_before_is_not_served_it_again_and_others_fill_it(hit: Hit, market: MTurkMarket) -> None:
    sync(offering_for(hit.study, "local"), market, now)
    again(hit.study, market)

    with pytest.raises(AssertionError, match="return"):
        CrowdWorker(hit, accounts()[0])
    TurkHit.objects.update(max_assignments=3)  # the one who was refused holds a place, until they return it
    for account in accounts()[2:4]:
        CrowdWorker(hit, account).finish()
    synced = sync(offering_for(hit.study, "local"), market, now)

    assert (synced.collected.new, synced.paid.rewards) == (2, 2)
    assert Submission.objects.filter(assignment__hit=hit, problem="").count() == 4
    assert sync(offering_for(hit.study, "local"), market, now).collected.new == 0


def test_a_run_that_was_killed_between_its_intent_and_its_note_puts_it_up_once(hit: Hit, market: MTurkMarket) -> None:
    sync(offering_for(hit.study, "local"), market, now)
    again(hit.study, market)
    hits = TurkHit.objects.count()
    Publication.objects.current().filter(hit=hit).update(crowd_hit_id="", published_at=None)

    assert again(hit.study, market).published == 1

    assert TurkHit.objects.count() == hits
    assert Publication.objects.current().get(hit=hit).crowd_hit_id == TurkHit.objects.latest("pk").hit_id


def test_a_hit_that_seemed_gone_and_is_there_is_left_alone(demo_study: Study, market: MTurkMarket) -> None:
    """Somebody synced with the keys of another account."""
    publish(demo_study, market, hits=1)
    Publication.objects.update(gone_at=now(), closed_at=now())

    assert again(demo_study, market) == PutUpAgain()
    sync(offering_for(demo_study, "local"), market, now)

    assert Publication.objects.get().gone_at is None
    assert TurkHit.objects.count() == 1


def test_hits_that_lead_nowhere_are_taken_off_the_market_and_put_up_again(
    demo_study: Study, market: MTurkMarket
) -> None:
    publish(demo_study, market, hits=2)
    old = set(TurkHit.objects.values_list("hit_id", flat=True))

    done = again(demo_study, market, "https://right.example.org/work", elsewhere=True)

    assert (done.elsewhere, done.published, done.assignments) == (2, 2, 8)
    assert not TurkHit.objects.filter(hit_id__in=old).assignable().exists()
    new = TurkHit.objects.exclude(hit_id__in=old)
    assert all("https://right.example.org/work" in hit.question for hit in new.assignable())
    assert new.count() == 2
    assert again(demo_study, market, "https://right.example.org/work", elsewhere=True) == PutUpAgain()
    assert budget_of(offering_for(demo_study, "local")).open_cents == 8 * EACH
    sync(offering_for(demo_study, "local"), market, now)
    assert budget_of(offering_for(demo_study, "local")).open_cents == 8 * EACH


def test_a_hit_that_the_marketplace_does_not_take_off_is_not_put_up_and_the_others_are(
    demo_study: Study, market: MTurkMarket
) -> None:
    publish(demo_study, market, hits=3)
    refused = Publication.objects.get(hit__number=1)
    there = refused.crowd_hit_id
    refused.crowd_hit_id = "3UNKNOWNTOTHEMARKET"
    refused.save()

    done = again(demo_study, market, "https://right.example.org/work", elsewhere=True)

    assert (done.published, done.assignments, done.stopped_by) == (2, 8, None)
    assert list(done.refused.values()) == [1]
    Publication.objects.filter(pk=refused.pk).update(crowd_hit_id=there)
    assert again(demo_study, market, "https://right.example.org/work", elsewhere=True).published == 1


def test_the_command_and_the_button_put_them_up(
    hit: Hit, market: MTurkMarket, researcher_client: Client, live_server: LiveServer
) -> None:
    sync(offering_for(hit.study, "local"), market, now)

    page = html_of(researcher_client.get("/studies/demo/monitor/"))
    form = {"market": "local", "which": "deleted", "cents": "1"}
    refused = researcher_client.post("/studies/demo/put-up/", form, follow=True)
    out = StringIO()
    call_command("put_up_again", "demo", "--dry-run", stdout=out)

    assert "1 HIT was deleted on the marketplace" in page
    assert "Put 1 deleted HIT up again" in page
    assert "1 HIT leads workers to https://eval.example.org/work, and this server's page is http://127" in page
    assert "Something has changed since you looked" in html_of(refused)
    assert out.getvalue() == (
        "1 HIT deleted on the marketplace: 2 assignments, at most $1.20.\nDry run: nothing is put up.\n"
    )
    assert researcher_client.post("/studies/demo/put-up/", {**form, "cents": "120"}).status_code == 302
    with pytest.raises(EvalPlatformError, match="it can't be reached"):
        put_hits_up_again(offering_for(hit.study, "local").pk, False, None)
    with override_settings(PUBLIC_URL=live_server.url):
        put_hits_up_again(offering_for(hit.study, "local").pk, False, None)
    assert Publication.objects.current().get(hit=hit).round == 1
    assert not Publication.objects.current().filter(hit__number=1, round=1).exists()


def test_a_list_that_lags_or_skips_makes_no_hit_seem_deleted(demo_study: Study, market: MTurkMarket) -> None:
    publish(demo_study, market)
    CrowdWorker(demo_study.hits.get(number=0), accounts()[0]).finish()
    add_fault(Kind.LIST_LAG, 3600, operation="ListHITs")

    synced = sync(offering_for(demo_study, "local"), market, now)

    assert (synced.collected.gone, synced.collected.new, synced.paid.rewards) == (0, 1, 1)
    assert not Publication.objects.exclude(gone_at=None).exists()
