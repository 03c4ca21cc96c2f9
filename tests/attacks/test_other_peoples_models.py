"""Users who change what is not theirs: datasets, models, and runs that they did not ask for."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from generation.models import Dataset, GenerationRun, Generator
from generation.run_requests import request_run
from tests.conftest import CORPUS
from tests.generation.scripted_runs import make_dialogs, make_generator
from tests.pages import html_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("scripted_kind")]


def logged_in(name: str, is_superuser: bool = False) -> Client:
    user, _ = User.objects.get_or_create(username=name, defaults={"is_superuser": is_superuser, "is_staff": True})
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def run(researcher: User) -> GenerationRun:
    """Rosa's, of her model, on her dataset."""
    dataset, generator = make_dialogs("a", "b"), make_generator()
    Dataset.objects.update(owner=researcher)
    Generator.objects.update(owner=researcher)
    return request_run(generator, dataset, researcher)


def changes(run: GenerationRun) -> list[tuple[str, dict[str, str]]]:
    return [
        (f"/models/{run.generator_id}/generate/", {"dataset": str(run.dataset_id)}),
        (f"/models/runs/{run.pk}/pause/", {}),
        (f"/models/runs/{run.pk}/resume/", {}),
        (f"/models/runs/{run.pk}/cancel/", {}),
        (f"/datasets/{run.dataset_id}/style-check/request/", {}),
    ]


def everything() -> list[object]:
    tables = (Dataset, Generator, GenerationRun)
    return [list(table.objects.order_by("pk").values()) for table in tables]


@pytest.mark.parametrize("has_owner", [True, False], ids=["rosa's", "nobody's"])
def test_another_user_reads_and_changes_nothing(run: GenerationRun, has_owner: bool) -> None:
    mallory = logged_in("mallory")
    if not has_owner:
        Dataset.objects.update(owner=None)
        Generator.objects.update(owner=None)
        GenerationRun.objects.update(requested_by=None)
    before = everything()

    for address, form in changes(run):
        assert mallory.post(address, form).status_code == 403, address
    assert everything() == before

    pages = [
        mallory.get(f"/models/{run.generator_id}/"),
        mallory.get(f"/models/{run.generator_id}/runs/"),
        mallory.get(f"/datasets/{run.dataset_id}/"),
        mallory.get(f"/datasets/{run.dataset_id}/style-check/"),
    ]
    for page in pages:
        assert page.status_code == 200
        for word in ("Answer them", "Pause", "Cancel", "Check now"):
            assert f">{word}</button>" not in html_of(page)


@pytest.mark.parametrize(("name", "is_superuser"), [("rosa", False), ("root", True)])
def test_owners_and_superusers_find_the_buttons_and_may_press_them(
    run: GenerationRun, name: str, is_superuser: bool
) -> None:
    client = logged_in(name, is_superuser)

    page = html_of(client.get(f"/models/{run.generator_id}/"))
    answers = [client.post(address, form).status_code for address, form in changes(run)]

    assert ">Answer them</button>" in page
    assert ">Pause</button>" in page
    assert answers == [302] * 5
    assert GenerationRun.objects.get(pk=run.pk).cancelled_at is not None


def test_who_asked_for_a_run_may_end_it_though_the_model_was_handed_over(run: GenerationRun) -> None:
    Generator.objects.update(owner=User.objects.create_user("ben"))

    assert logged_in("rosa").post(f"/models/runs/{run.pk}/cancel/").status_code == 302


@pytest.mark.parametrize("name", ["dataset", "generator", "generationrun", "dialog", "candidate"])
def test_the_admin_shows_rows_and_changes_none(run: GenerationRun, name: str) -> None:
    root = logged_in("root", is_superuser=True)

    assert root.get(f"/admin/generation/{name}/").status_code == 200
    for action in ("add/", "1/delete/"):
        assert root.post(f"/admin/generation/{name}/{action}", {"post": "yes"}).status_code in (302, 403, 404)
    deletion = {"action": "delete_selected", "_selected_action": [str(run.pk)], "post": "yes"}
    root.post(f"/admin/generation/{name}/", deletion)
    assert GenerationRun.objects.filter(pk=run.pk).exists()


def test_commands_say_whose_things_are_and_hand_them_over(researcher: User) -> None:
    quiet = {"stdout": StringIO()}
    call_command("import_dialogs", CORPUS / "emotional.jsonl", dataset="example-emotional", owner="rosa", **quiet)
    call_command("import_candidates", CORPUS / "candidates.jsonl", **quiet)
    assert Dataset.objects.get().owner == researcher
    assert not Generator.objects.exclude(owner=None).exists()

    call_command("import_candidates", CORPUS / "candidates.jsonl", owner="rosa", **quiet)
    assert not Generator.objects.filter(owner=None).exists()
    ben = User.objects.create_user("ben")
    call_command("import_dialogs", CORPUS / "emotional.jsonl", dataset="example-emotional", owner="ben", **quiet)
    assert Dataset.objects.get().owner == researcher
    call_command("set_owner", "ben", dataset=["example-emotional"], model=["parrot"], **quiet)

    assert Dataset.objects.get().owner == ben
    assert list(ben.generators.values_list("name", flat=True)) == ["parrot"]
    for arguments in (["nobody", "--dataset", "example-emotional"], ["ben", "--model", "x"], ["ben"]):
        with pytest.raises(CommandError):
            call_command("set_owner", *arguments)
    with pytest.raises(CommandError, match="Nobody here has the user name 'nobody'"):
        call_command("import_dialogs", CORPUS / "emotional.jsonl", dataset="new", owner="nobody", **quiet)
    assert not Dataset.objects.filter(name="new").exists()


def test_a_model_that_is_described_for_the_first_time_is_its_owner_s(researcher: User) -> None:
    make_dialogs("a")
    options = {"dataset": "D", "generator": "new", "kind": "scripted", "here": True, "owner": "rosa"}
    call_command("generate_candidates", **options, stdout=StringIO())

    assert Generator.objects.get().owner == researcher
