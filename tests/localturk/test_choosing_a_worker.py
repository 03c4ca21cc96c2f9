"""The page on which a rehearsing researcher becomes a worker."""

import pytest
from django.test import Client

from localturk.models import WorkerAccount
from tests.pages import html_of


@pytest.mark.django_db
def test_people_come_first_and_a_simulated_crowd_is_folded_away(client: Client) -> None:
    for number in range(3):
        WorkerAccount.objects.create(worker_id=f"ASIM{number:06}", name=f"Simulated {number}", country="US")

    page = html_of(client.get("/market/"))

    shown, folded = page.split("<details>")
    assert "Alice" in shown
    assert "Simulated" not in shown
    assert "3 workers of a simulated crowd" in folded
    assert "Simulated 2" in folded
