"""Who sees a study: its owner, invited members, superusers; for anyone else it does not exist."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.access import make_token, pseudonym
from hits.api import urls as api_urls
from hits.designing import copy_study
from hits.models import Assignment, Event, Membership, Study
from hits.urls import urlpatterns
from tests.conftest import ROOT
from tests.hits.rated import rate
from tests.pages import html_of

UNKNOWN_KEY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def stranger(db: None) -> User:
    return User.objects.create_user("sam", password="another-secret")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def addresses_of(study: Study, name: str, key: str) -> Iterator[str]:
    """Of everything that hits has an address for with a study in it."""
    assignment = Assignment.objects.filter(hit__study=study).first()
    assert assignment is not None
    worker = pseudonym(study, assignment.crowd_worker_id)
    values: dict[str, Any] = {"name": name, "number": 0, "step": "data", "worker": worker}
    for pattern in urlpatterns:
        if str(pattern.pattern).startswith("studies/<"):
            names = pattern.pattern.converters
            yield reverse(str(pattern.name), kwargs={one: values.get(one, assignment.pk) for one in names})
    for pattern in api_urls.urlpatterns:
        if str(pattern.pattern).startswith("studies/<"):
            yield reverse(str(pattern.name), kwargs={"key": key})


def ask(client: Client, address: str, token: str) -> int:
    headers = {"Authorization": f"Token {token}"} if address.startswith("/api/") else {}
    response = client.get(address, headers=headers)
    if response.status_code == 405:
        response = client.post(address)
    return response.status_code


def test_for_a_stranger_no_address_of_a_study_exists(demo_study: Study, stranger: User) -> None:
    rate(demo_study, hits=1, workers=1)
    token = make_token(stranger, "test", timezone.now())
    client = client_of(stranger)

    addresses = list(addresses_of(demo_study, "demo", str(demo_study.key)))
    found = {address: ask(client, address, token) for address in addresses}

    assert len(addresses) > 45
    assert {address: status for address, status in found.items() if status != 404} == {}
    unknown = [ask(client, address, token) for address in addresses_of(demo_study, "no-such-study", UNKNOWN_KEY)]
    assert set(unknown) == {404}
    assert Event.objects.count() == 0
    assert "/studies/demo/" not in html_of(client.get("/studies/"))
    listed = client.get("/api/studies/", headers={"Authorization": f"Token {token}"})
    assert listed.json()["results"] == []


def test_for_its_owner_and_for_members_every_address_exists(
    demo_study: Study, researcher: User, stranger: User
) -> None:
    rate(demo_study, hits=1, workers=1)
    Membership.objects.create(study=demo_study, user=stranger, invited_at=timezone.now())

    for user in (researcher, stranger):
        token, client = make_token(user, "test", timezone.now()), client_of(user)
        for address in addresses_of(demo_study, "demo", str(demo_study.key)):
            if address.endswith(".zip"):  # is not made yet
                continue
            headers = {"Authorization": f"Token {token}"} if address.startswith("/api/") else {}
            assert client.get(address, headers=headers).status_code != 404, address


def test_an_owner_invites_a_member_and_takes_them_out_again(
    demo_study: Study, researcher: User, researcher_client: Client, stranger: User
) -> None:
    page = html_of(researcher_client.post("/studies/demo/members/", {"user_name": "sam"}, follow=True))
    assert "sam can see the study now." in page
    assert "Take sam out" in page
    assert "/studies/demo/" in html_of(client_of(stranger).get("/studies/"))
    again = html_of(researcher_client.post("/studies/demo/members/", {"user_name": "sam"}, follow=True))
    assert "sam is a member already." in again

    researcher_client.post("/studies/demo/members/take-out/", {"user_name": "sam"})

    assert client_of(stranger).get("/studies/demo/").status_code == 404
    texts = [event.text for event in Event.objects.filter(actor=researcher).order_by("pk")]
    assert texts == ["invited sam to the study", "removed sam from the study"]


def test_members_do_not_invite_but_may_leave(demo_study: Study, stranger: User) -> None:
    User.objects.create_user("third")
    Membership.objects.create(study=demo_study, user=stranger, invited_at=timezone.now())
    client = client_of(stranger)

    refused = html_of(client.post("/studies/demo/members/", {"user_name": "third"}, follow=True))
    assert "Only the study&#x27;s owner can invite and remove members" in refused
    left = client.post("/studies/demo/members/take-out/", {"user_name": "sam"}, follow=True)

    assert left.redirect_chain == [("/studies/", 302)]
    assert not Membership.objects.exists()


@pytest.mark.parametrize(
    ("user_name", "words"), [("nobody", "Nobody here has the user name"), ("rosa", "The study is rosa&#x27;s own")]
)
def test_who_can_not_be_invited_is_told_why(
    demo_study: Study, researcher_client: Client, user_name: str, words: str
) -> None:
    page = html_of(researcher_client.post("/studies/demo/members/", {"user_name": user_name}, follow=True))

    assert words in page
    assert not Membership.objects.exists()


def test_a_copy_is_its_makers_own_and_not_the_members(demo_study: Study, researcher: User, stranger: User) -> None:
    Membership.objects.create(study=demo_study, user=stranger, invited_at=timezone.now())

    copy_study(demo_study, "copy", stranger)

    assert client_of(stranger).get("/studies/copy/").status_code == 200
    assert client_of(researcher).get("/studies/copy/").status_code == 404


def test_a_study_without_an_owner_is_seen_by_superusers_until_it_is_given_one(
    example_corpus: None, researcher: User
) -> None:
    file = ROOT / "examples" / "demo.toml"
    call_command("create_study", file)
    chief = User.objects.create_superuser("chief")
    assert client_of(researcher).get("/studies/demo/").status_code == 404
    assert client_of(chief).get("/studies/demo/").status_code == 200

    call_command("create_study", file, owner="rosa")

    assert client_of(researcher).get("/studies/demo/").status_code == 200
    with pytest.raises(CommandError, match="demo is rosa's"):
        call_command("create_study", file, owner="chief")
    with pytest.raises(CommandError, match="Nobody here has the user name 'nemo'"):
        call_command("create_study", file, owner="nemo")


def test_lists_take_as_many_queries_for_many_studies_as_for_one(
    demo_study: Study, researcher: User, researcher_client: Client, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(6) as before:  # three of them count how far the studies are
        researcher_client.get("/studies/")
    for number in range(5):
        copy_study(demo_study, f"copy-{number}", researcher)
    with django_assert_num_queries(len(before)):
        researcher_client.get("/studies/")
