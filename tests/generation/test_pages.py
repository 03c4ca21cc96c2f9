"""The researcher's pages on datasets and dialogs, as the server sends them."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.importing import import_dialogs
from generation.models import Dataset, Dialog
from tests.conftest import WriteFile
from tests.pages import html_of


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/datasets/", "/datasets/1/", "/dialogs/1/", "/datasets/1/style-check/"])
def test_strangers_are_sent_to_the_log_in(client: Client, address: str) -> None:
    response = client.get(address)

    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/?next=")


@pytest.mark.usefixtures("example_corpus")
def test_home_and_datasets_show_what_is_there(researcher_client: Client) -> None:
    home = html_of(researcher_client.get("/"))
    datasets = html_of(researcher_client.get("/datasets/"))

    assert "<dd>60</dd>" in home
    assert "<dd>240</dd>" in home
    assert datasets.count("all 20") == 12


def test_an_empty_platform_says_how_to_begin(researcher_client: Client) -> None:
    assert "import_dialogs" in html_of(researcher_client.get("/"))
    assert "import_dialogs" in html_of(researcher_client.get("/datasets/"))


@pytest.mark.django_db
def test_search_finds_dialogs_by_every_word_in_any_script(researcher_client: Client, write_lines: WriteFile) -> None:
    import_dialogs(
        write_lines(
            {"id": "a", "context": ["Un café à Zürich"], "emotion": "joyful"},
            {"id": "b", "context": ['She said "no" 100%'], "reference": "Why?"},
            {"id": "c", "context": ["Nothing"], "situation": "A quiet day in Zürich"},
        ),
        "ED",
    )

    def found(query: str) -> list[str]:
        response = researcher_client.get(f"/datasets/{Dataset.objects.get().pk}/", {"q": query})
        return [dialog.external_id for dialog in response.context["page"]]

    assert found("café") == ["a"]
    assert found("Zürich") == ["a", "c"]
    assert found("CAF") == ["a"]
    assert found('"no"') == ["b"]
    assert found('"') == ["b"]
    assert found("a " * 3000) == ["a", "b", "c"]
    assert found("quiet day") == ["c"]
    assert found("café quiet") == []
    assert found("joyful") == ["a"]
    assert found("100%") == ["b"]
    assert found("why") == ["b"]
    assert found("_") == []


@pytest.mark.usefixtures("example_corpus")
def test_pages_of_dialogs_keep_the_search_and_odd_numbers_do_no_harm(researcher_client: Client) -> None:
    dataset = Dataset.objects.get(name="example-empathetic")
    for page in ("0", "-1", "99999999999999999999", "x", ""):
        assert researcher_client.get(f"/datasets/{dataset.pk}/", {"page": page}).status_code == 200
    response = researcher_client.get(f"/datasets/{dataset.pk}/", {"emotion": "proud"})
    assert {dialog.emotion for dialog in response.context["page"]} == {"proud"}
    assert researcher_client.get("/datasets/999/").status_code == 404


@pytest.mark.usefixtures("example_corpus")
def test_a_dialog_stands_beside_all_of_its_replies(researcher_client: Client) -> None:
    dialog = Dialog.objects.get(external_id="empathetic-001")

    page = html_of(researcher_client.get(f"/dialogs/{dialog.pk}/"))

    for name in ("listener-large", "listener-small", "generic", "parrot", "Human reply (gold)"):
        assert name in page
    assert "That&#x27;s awesome, I bet she was very proud of you." in page
    assert "that &#x27;s awesome , i bet she was very proud of you ." in page


@pytest.mark.django_db
def test_texts_are_shown_as_text_whatever_is_in_them(researcher_client: Client, write_lines: WriteFile) -> None:
    import_dialogs(write_lines({"id": "<b>", "context": ["<script>alert(1)</script>"]}), "ED")

    page = html_of(researcher_client.get(f"/dialogs/{Dialog.objects.get().pk}/"))

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.usefixtures("example_corpus")
def test_the_number_of_queries_does_not_grow_with_the_dialogs(
    researcher_client: Client, write_lines: WriteFile
) -> None:
    dataset = Dataset.objects.get(name="example-empathetic")

    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            researcher_client.get(f"/datasets/{dataset.pk}/")
        return len(queries)

    before = count_queries()
    import_dialogs(write_lines(*[{"id": n, "context": ["Hi!"]} for n in range(500)]), dataset.name)

    assert count_queries() == before


@pytest.mark.usefixtures("example_corpus")
def test_responses_carry_a_policy_without_inline_script(researcher_client: Client) -> None:
    response = researcher_client.get("/")

    assert "script-src" not in response.headers["Content-Security-Policy"]
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert "unsafe-inline" not in response.headers["Content-Security-Policy"]
    assert response.headers["X-Frame-Options"] == "DENY"


@pytest.mark.usefixtures("example_corpus")
def test_raw_rows_can_be_looked_at_in_the_admin_but_not_changed(admin_client: Client) -> None:
    dialog = Dialog.objects.first()
    assert dialog is not None

    for table in ("dataset", "dialog", "generator", "generationrun", "candidate"):
        assert admin_client.get(f"/admin/generation/{table}/").status_code == 200
    assert admin_client.get(f"/admin/generation/dialog/{dialog.pk}/change/").status_code == 200
    assert admin_client.post(f"/admin/generation/dialog/{dialog.pk}/change/", {"gold": "x"}).status_code == 403
    assert admin_client.get(f"/admin/generation/dialog/{dialog.pk}/delete/").status_code == 403
