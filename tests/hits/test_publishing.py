"""HITs -> the marketplace, each exactly once, whatever is killed or dropped."""

import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evalplatform.errors import EvalPlatformError
from hits.crowds.mturk.annotations import annotation_of
from hits.crowds.mturk.client import MTurkMarket, hit_type_of
from hits.crowds.mturk.question import external_question
from hits.crowds.mturk.types import NewHit
from hits.models import Publication, Study, offering_for
from hits.publishing import check_funds, plan_publishing, publish_hits, resume_study, stop_study
from hits.publishing.creating import adopt_orphans
from localturk.faults import Kind, add_fault
from localturk.models import TurkHit
from tests.conftest import ROOT
from tests.processes import as_a_user_has_it

PAGE = "http://127.0.0.1:8000/work"


def now() -> datetime:
    return datetime.now(UTC)


def publish(study: Study, market: MTurkMarket, hits: int | None = None) -> Any:
    return publish_hits(plan_publishing(offering_for(study, "local"), hits), market, PAGE, now)


def hits_on(market: MTurkMarket, study: Study) -> Counter[str]:
    return Counter(hit.mark for hit in market.list_hits() if str(study.key) in hit.mark)


def assert_each_hit_is_there_once(market: MTurkMarket, study: Study, count: int = 6) -> None:
    assert hits_on(market, study) == {annotation_of(offering_for(study, "local"), number): 1 for number in range(count)}
    known = set(Publication.objects.filter(hit__study=study).values_list("crowd_hit_id", flat=True))
    assert known == {hit.crowd_hit_id for hit in market.list_hits() if str(study.key) in hit.mark}


def test_every_hit_is_published_once_and_again_changes_nothing(bare_study: Study, market: MTurkMarket) -> None:
    first, second = publish(bare_study, market), publish(bare_study, market)

    assert (first.published, second.published, second.adopted) == (6, 0, 0)
    assert_each_hit_is_there_once(market, bare_study)


def test_waves_publish_a_part_now_and_the_rest_later(bare_study: Study, market: MTurkMarket) -> None:
    publish(bare_study, market, hits=2)
    publish(bare_study, market, hits=3)
    publish(bare_study, market)

    waves = Publication.objects.order_by("hit__number").values_list("wave", flat=True)
    assert list(waves) == [1, 1, 2, 2, 2, 3]
    assert_each_hit_is_there_once(market, bare_study)


def test_a_hit_whose_answer_was_lost_is_adopted_even_after_the_token_s_life(
    bare_study: Study, market: MTurkMarket
) -> None:
    publish(bare_study, market)
    # As if the run had been killed before it saved two outcomes, and a third row was lost with a restored database.
    Publication.objects.filter(hit__number__in=[1, 2]).update(crowd_hit_id="", published_at=None)
    Publication.objects.filter(hit__number=3).delete()

    assert adopt_orphans(offering_for(bare_study, "local"), market, now() + timedelta(hours=25)) == 3
    assert_each_hit_is_there_once(market, bare_study)


def test_an_orphan_that_slips_through_a_shifting_list_is_not_made_twice(bare_study: Study, market: MTurkMarket) -> None:
    """Another project deletes a HIT between two pages of the list, more than a day after the run was killed."""
    publish(bare_study, market)
    Publication.objects.update(crowd_hit_id="", published_at=None, intended_at=now() - timedelta(hours=30))
    spec = hit_type_of(bare_study.parsed_design)
    other = NewHit(market.create_hit_type(spec), external_question(PAGE, 800), 1, 86_400, "somebody else's 0", "theirs")
    other_id = market.create_hit(other)
    add_fault(Kind.OFFSET_PAGES, 3)
    pages = []

    def delete_while_it_is_read(**_: object) -> None:
        pages.append(1)
        if len(pages) == 2:
            TurkHit.objects.filter(hit_id=other_id).delete()

    market._client.meta.events.register("before-call.mturk.ListHITs", delete_while_it_is_read)

    assert adopt_orphans(offering_for(bare_study, "local"), market, now()) == 6


def test_hits_of_other_projects_are_left_alone(bare_study: Study, market: MTurkMarket) -> None:
    hit_type = market.create_hit_type(hit_type_of(bare_study.parsed_design))
    other = NewHit(hit_type, external_question(PAGE, 800), 1, 86_400, "somebody else's 0", "their-token")
    other_id = market.create_hit(other)

    publish(bare_study, market)

    assert_each_hit_is_there_once(market, bare_study)
    assert market.get_hit(other_id).is_open


def test_stopping_expires_at_once_and_resuming_puts_back(bare_study: Study, market: MTurkMarket) -> None:
    publish(bare_study, market)

    assert stop_study(offering_for(bare_study, "local"), market, now).changed == 6
    assert stop_study(offering_for(bare_study, "local"), market, now).changed == 0
    assert all(hit.expires_at < now() for hit in market.list_hits())
    assert resume_study(offering_for(bare_study, "local"), market, now).changed == 6
    assert all(hit.expires_at > now() for hit in market.list_hits())


def test_budget_and_balance_are_checked_before_anything_is_spent(bare_study: Study, market: MTurkMarket) -> None:
    plan = plan_publishing(offering_for(bare_study, "local"))

    check_funds(plan, market, 14_40)
    with pytest.raises(EvalPlatformError, match=r"at most \$14.40, above the given budget of \$14.39"):
        check_funds(plan, market, 14_39)


def test_a_wave_that_was_interrupted_is_finished_alone_by_the_same_request(
    bare_study: Study, market: MTurkMarket
) -> None:
    publish(bare_study, market, hits=4)
    Publication.objects.filter(hit__number__in=[1, 3]).update(crowd_hit_id="", published_at=None)

    again = publish(bare_study, market, hits=4)

    assert (again.published, again.adopted) == (0, 2)
    assert_each_hit_is_there_once(market, bare_study, 4)
    assert publish(bare_study, market, hits=4).published == 2


def test_stopping_finds_what_an_interrupted_run_left_on_the_market(bare_study: Study, market: MTurkMarket) -> None:
    publish(bare_study, market)
    Publication.objects.filter(hit__number__lt=4).update(crowd_hit_id="", published_at=None)

    assert stop_study(offering_for(bare_study, "local"), market, now).changed == 6
    assert all(hit.expires_at < now() for hit in market.list_hits())


@pytest.mark.once
def test_runs_killed_or_met_by_faults_and_started_again_lose_and_double_nothing(test_database_url: str) -> None:
    """The short form of `python -m benchmarks.publishing_chaos`, which plays 200 such runs."""
    command = [sys.executable, "-m", "benchmarks.publishing_chaos", "--runs", "6", "--database-url", test_database_url]

    chaos = subprocess.run(command, cwd=ROOT, env=as_a_user_has_it(), capture_output=True, text=True, check=False)

    assert chaos.returncode == 0, chaos.stderr
    assert "0 HITs lost" in chaos.stdout
    assert "0 HITs double" in chaos.stdout
