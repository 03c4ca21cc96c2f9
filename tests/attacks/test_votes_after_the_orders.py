"""Card orders become public, or a person stops the study, while a sync counts votes: then no more work is asked for."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from hits.budgeting import reveal_secret, spending
from hits.crowds.mturk.client import MTurkMarket
from hits.deciding import ask_fourth_votes
from hits.models import Offering, Publication
from localturk.models import TurkHit
from tests.hits.conftest import market
from tests.hits.voted import differing_on, items_of, offered, vote

__all__ = ["market"]


def reveal(offering: Offering) -> None:
    assert reveal_secret(offering.study, timezone.now())


def stop(offering: Offering) -> None:
    Publication.objects.filter(offering=offering).update(stopped_at=timezone.now())


@pytest.mark.parametrize("meanwhile", [reveal, stop])
def test_what_happens_while_votes_are_counted_keeps_a_sync_from_asking_for_more(
    example_corpus: None, researcher: User, market: MTurkMarket, meanwhile: Callable[[Offering], None]
) -> None:
    offering = offered(market)
    vote(offering, differing_on(items_of(offering)[:7]))
    Publication.objects.filter(offering=offering).update(closed_at=timezone.now())
    is_counting = Event()

    def notice(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        found = execute(sql, parameters, many, context)
        if "hits_rating" in sql:
            is_counting.set()
        return found

    def count_and_ask() -> int:
        try:
            with connection.execute_wrapper(notice):
                return ask_fourth_votes(Offering.objects.get(pk=offering.pk), market, lambda: datetime.now(UTC)).hits
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with spending(offering.study):
            asking = pool.submit(count_and_ask)
            assert is_counting.wait(20)
            meanwhile(offering)

        assert asking.result() == 0

    assert TurkHit.objects.count() == 6
