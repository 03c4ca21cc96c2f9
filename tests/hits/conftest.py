"""The marketplace of the tests: the one client, in-process and over HTTP."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from hits.crowds.mturk.client import MTurkMarket, boto_client
from hits.models import Hit, Study
from localturk import in_process
from tests.conftest import DEMO


@pytest.fixture
def bare_study(researcher: User) -> Study:
    """Frozen, with the demo's design and 6 HITs without dialogs: all that publishing looks at, and quickly made."""
    study = Study.objects.create(
        name="demo", owner=researcher, design=DEMO, manifest_hash="-", frozen_at=timezone.now()
    )
    Hit.objects.bulk_create(Hit(study=study, number=number, block=number, assignments=4) for number in range(6))
    return study


@pytest.fixture
def market(transactional_db: None) -> MTurkMarket:
    client = boto_client("http://localturk.invalid", has_own_credentials=False)
    in_process.attach(client)
    return MTurkMarket(client, calls_per_second=1000)


@pytest.fixture
def http_market(transactional_db: None, localturk_url: str) -> MTurkMarket:
    return MTurkMarket(boto_client(localturk_url, has_own_credentials=False), calls_per_second=1000)


@pytest.fixture(params=["in-process", "over HTTP"])
def any_market(request: pytest.FixtureRequest, transactional_db: None) -> MTurkMarket:
    """Asks for the transactional database itself: what is asked for only while a test runs comes too late for it."""
    found: MTurkMarket = request.getfixturevalue("market" if request.param == "in-process" else "http_market")
    return found
