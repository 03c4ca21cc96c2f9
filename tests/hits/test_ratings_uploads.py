"""The page "Ratings from elsewhere": upload, check the columns, read the same results, take the bundle along."""

import io
import re
import shutil
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from evalplatform.background_work import QUIET_AFTER
from evalplatform.middleware import MOST_BYTES
from hits.analysing import results_as_json
from hits.elsewhere import read_elsewhere, upload_bundle_file, upload_file
from hits.exporting import check_bundle, unpack_bundle
from hits.exporting.hashing import write_hashes
from hits.models import RatingsUpload
from hits.tasks import analyse_ratings_upload
from tests.pages import html_of

LINES = ["conv_id;rater;system;fluency;empathy"] + [
    f"{item};w{worker};{model};{1 + (item * worker) % 5};{1 + (item + 2 * worker + (model == 'B')) % 5}"
    for item in range(12)
    for worker in range(4)
    for model in ("A", "<b>B</b>")
]
FILE = "\n".join(LINES).encode()
MAPPED = {"item": "conv_id", "worker": "rater", "generator": "system", "values": ["fluency", "empathy"]}

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_folder(settings: pytest.FixtureRequest, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path  # type: ignore[attr-defined]


def send(client: Client, content: bytes = FILE, name: str = "other tool.csv") -> str:
    return client.post("/ratings/", {"file": SimpleUploadedFile(name, content)}, follow=True).redirect_chain[-1][0]


def computed(client: Client, content: bytes = FILE, **mapping: object) -> tuple[str, RatingsUpload]:
    address = send(client, content)
    assert client.post(address, mapping or MAPPED).status_code == 302
    analyse_ratings_upload(RatingsUpload.objects.get().pk)
    return address, RatingsUpload.objects.get()


def test_a_file_is_uploaded_and_its_columns_are_guessed(researcher_client: Client) -> None:
    address = send(researcher_client)

    page = html_of(researcher_client.get(address))

    assert re.search(r'<select id="item".*?<option selected>conv_id</option>', page, re.DOTALL)
    assert re.search(r'<select id="worker".*?<option selected>rater</option>', page, re.DOTALL)
    assert re.search(r'<select id="generator".*?<option selected>system</option>', page, re.DOTALL)
    assert 'value="fluency" checked' in page
    assert "separated by semicolons" in page
    assert "&lt;b&gt;B&lt;/b&gt;" in page
    assert "<b>B</b>" not in page
    file = upload_file(RatingsUpload.objects.get())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_the_page_shows_the_same_results_as_the_reader_and_a_bundle_that_can_be_checked(
    researcher_client: Client, tmp_path: Path
) -> None:
    address, upload = computed(researcher_client)

    (tmp_path / "same.csv").write_bytes(FILE)
    assert upload.results == results_as_json(read_elsewhere(tmp_path / "same.csv").analyse())
    assert (upload.problem, upload.done_share, upload.is_under_way) == ("", 1, False)
    page = html_of(researcher_client.get(address))
    assert "Fluency: How replies were rated" in page
    assert "Empathy: Which model is better" not in page
    assert "Empathy: Which model is better" in html_of(researcher_client.get(address, {"criterion": "empathy"}))
    assert "<svg" in page
    assert "<b>B</b>" not in page
    assert "rater: rater" in page

    answer = researcher_client.get(f"{address}bundle.zip")
    packed = tmp_path / "bundle.zip"
    packed.write_bytes(b"".join(answer))
    with unpack_bundle(packed) as folder:
        call_command("check_bundle", str(folder), stdout=io.StringIO())
        ratings = folder / "ratings.csv"
        ratings.write_text(ratings.read_text().replace('"5",5', '"1",1', 1))
        problems = " ".join(check_bundle(folder))
    assert "ratings.csv has changed" in problems
    assert "results.json has other numbers than ratings.csv" in problems
    assert set(zipfile.ZipFile(packed).namelist()) >= {
        f"ratings-{upload.sha256[:12]}/{name}" for name in ("README.md", "sha256sums.txt", "tables/all.tex")
    }


@pytest.mark.once
def test_a_bundle_from_elsewhere_has_what_one_of_a_study_has_and_every_change_is_found(
    researcher_client: Client, tmp_path: Path
) -> None:
    _, upload = computed(researcher_client)
    folder = tmp_path / "bundle"
    with unpack_bundle(upload_bundle_file(upload)) as packed:
        shutil.copytree(packed, folder)

    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    assert {"figures/fluency-shares-column.svg", "figures/fluency-shares-column.pdf", "methods.tex"} <= names
    width = re.search(r'viewBox="0 0 ([\d.]+)', (folder / "figures/fluency-shares-column.svg").read_text())
    assert width is not None
    assert abs(float(width[1]) - 219) < 1
    methods = (folder / "methods.md").read_text()
    assert "The ratings were collected with another tool ([to be filled in by the researchers]" in methods
    assert "Models were compared by paired differences within the same rater and dialog." in methods
    keys = re.findall(r"^@\w+\{(\w+),", (folder / "methods.bib").read_text(), re.MULTILINE)
    assert {"cameron", "holm", "krippendorff"} <= set(keys)
    assert set(",".join(re.findall(r"\\citep\{([\w,]+)\}", (folder / "methods.tex").read_text())).split(",")) == set(
        keys
    )
    assert (
        "Ratings from other tool.csv, criterion fluency: 12 dialogs"
        in (folder / "tables/fluency-table5.tex").read_text()
    )
    for name, old, new in (
        ("README.md", "192 ratings", "199 ratings"),
        ("methods.md", "Holm", "Bonferroni"),
        ("figures/figures.md", "# The figures", "A is better than B.\n# The figures"),
        ("figures/fluency-shares.svg", ">A<", ">C<"),
        ("figures/more.txt", "", "hello"),
    ):
        kept = (folder / name).read_text() if (folder / name).exists() else ""
        assert old in kept, name
        (folder / name).write_text(kept.replace(old, new, 1))
        write_hashes(folder)
        assert any(line.startswith(name) for line in check_bundle(folder)), name
        (folder / name).write_text(kept) if kept else (folder / name).unlink()
    write_hashes(folder)
    out = io.StringIO()
    call_command("check_bundle", str(folder), stdout=out)
    assert "Only their hashes were checked of figures/*.pdf, bundle.json." in out.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "item,model,score\n" + "".join(f"{n // 3},{'AB'[n % 2]},{n * 0.731 % 7}\n" for n in range(60)),
            "Raters were not identified, so that",
        ),
        (
            "item,worker,model,label\n"
            + "".join(f"{n // 4},w{n % 4},A,{'=x' if n % 3 else 'y, z'}\n" for n in range(60)),
            "over dialogs and raters",
        ),
    ],
)
def test_bundles_of_unidentified_raters_long_scales_and_labels_can_be_checked(
    researcher_client: Client, tmp_path: Path, content: str, told: str
) -> None:
    guess = {"item": "item", "generator": "model", "values": content.split("\n")[0].rsplit(",", 1)[1]}
    guess |= {"worker": "worker"} if "worker" in content else {}
    _, upload = computed(researcher_client, content.encode(), **guess)

    with unpack_bundle(upload_bundle_file(upload)) as folder:
        assert check_bundle(folder) == []
        texts = "".join(path.read_text() for path in [folder / "methods.md", *sorted((folder / "tables").iterdir())])
    assert told in texts
    # Of people whom nobody knows, nobody can say that they were others.
    assert "different raters" not in texts
    assert "no rater had rated" not in texts
    assert not re.search(r"\b0 (raters|workers)", texts)


def test_the_same_file_is_found_again_and_computed_once(researcher_client: Client) -> None:
    address, upload = computed(researcher_client)

    assert send(researcher_client, name="renamed.csv") == address
    researcher_client.post(address, MAPPED)

    assert RatingsUpload.objects.get().computed_at == upload.computed_at
    assert not RatingsUpload.objects.get().is_under_way


def test_a_refused_mapping_stands_at_its_field_with_what_was_chosen(researcher_client: Client) -> None:
    address = send(researcher_client)

    answer = researcher_client.post(address, {"item": "conv_id", "generator": "rater", "pattern": "nothing_{worker}"})

    page = html_of(answer)
    assert answer.status_code == 422
    assert re.search(r'id="values-problem">No column is named', page)
    assert 'value="nothing_{worker}"' in page
    assert re.search(r'<select id="generator".*?<option selected>rater</option>', page, re.DOTALL)
    assert not RatingsUpload.objects.get().is_under_way


def test_a_failure_is_said_and_another_mapping_can_be_tried(researcher_client: Client) -> None:
    address, upload = computed(researcher_client, item="conv_id", values="fluency", kind="words", words="great\npoor")

    assert "has no rating that can be used" in upload.problem
    assert "&#x27;1&#x27; is not one of great, poor" in html_of(researcher_client.get(address))
    researcher_client.post(address, MAPPED)
    analyse_ratings_upload(upload.pk)
    assert RatingsUpload.objects.get().problem == ""
    assert RatingsUpload.objects.get().results


def test_a_killed_task_is_started_again(researcher_client: Client) -> None:
    address = send(researcher_client)
    researcher_client.post(address, MAPPED)
    rows = RatingsUpload.objects.all()
    rows.note_start(timezone.now(), done_share=0.4, doing="comparing")
    first = rows.get().requested_at
    assert "no background process runs" in html_of(researcher_client.get(f"{address}live/"))  # here is none
    researcher_client.post(address, MAPPED)
    assert rows.get().requested_at == first  # its process may live

    rows.update(requested_at=timezone.now() - 3 * QUIET_AFTER, started_at=None, seen_at=None)
    assert "has not reported for two minutes" in html_of(researcher_client.get(address))
    researcher_client.post(address, MAPPED)
    analyse_ratings_upload(rows.get().pk)

    assert rows.get().results


def test_nobody_else_sees_it_and_its_owner_can_delete_it(researcher_client: Client) -> None:
    address, upload = computed(researcher_client)
    other = Client()
    other.force_login(User.objects.create_user("other"))

    for path in ("", "live/", "bundle.zip"):
        assert other.get(f"{address}{path}").status_code == 404
        assert Client().get(f"{address}{path}").status_code == 302  # to the log-in
    assert other.post(f"{address}delete/").status_code == 404
    assert "other tool.csv" not in html_of(other.get("/ratings/"))
    researcher_client.post(f"{address}delete/")

    assert not RatingsUpload.objects.exists()
    assert not upload_file(upload).exists()
    assert not upload_bundle_file(upload).exists()
    analyse_ratings_upload(upload.pk)  # a message that comes late finds nothing to do


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x89PNG\0\0", "no text"),
        (b"x" * 1_100_000, "is no table"),
        (b"PK\x03\x04", "Excel workbook"),
        (b" ", "is empty"),
    ],
)
def test_hostile_files_are_refused_at_the_field(researcher_client: Client, content: bytes, problem: str) -> None:
    answer = researcher_client.post("/ratings/", {"file": SimpleUploadedFile("bad.csv", content)})

    assert answer.status_code == 422
    assert re.search(rf'id="file-problem">bad.csv .*{problem}', html_of(answer))
    assert not RatingsUpload.objects.exists()


def test_a_file_beyond_the_limit_is_dropped(researcher_client: Client, settings: object, tmp_path: Path) -> None:
    settings.UPLOAD_MB = 1  # type: ignore[attr-defined]

    answer = researcher_client.post("/ratings/", {"file": SimpleUploadedFile("big.csv", b"a,b\n" * 500_000)})

    assert answer.status_code == 422
    assert "at most 1 MB" in html_of(answer)
    assert list((tmp_path / "uploads").glob("*")) == []


def test_a_file_larger_than_any_other_request_is_taken(researcher_client: Client) -> None:
    large = b"item,worker,model,score\n" + b"".join(b"%d,w1,A,%d\n" % (n, n % 5) for n in range(2_000_000))
    assert len(large) > MOST_BYTES

    address = send(researcher_client, large)

    assert RatingsUpload.objects.get().size == len(large)
    assert researcher_client.get(address).status_code == 200


def test_a_file_beyond_the_limit_is_refused_in_a_line_however_large(
    researcher_client: Client, settings: object, tmp_path: Path
) -> None:
    settings.UPLOAD_MB = 21  # type: ignore[attr-defined]

    answer = researcher_client.post("/ratings/", {"file": SimpleUploadedFile("big.csv", b"a,b\n" * 6_000_000)})

    assert answer.status_code == 422
    assert re.search(r'id="file-problem">[^<]*at most 21 MB', html_of(answer))
    assert list((tmp_path / "uploads").glob("*")) == []


def test_large_files_of_strangers_are_not_read() -> None:
    class Body:
        def read(self, *_: int) -> bytes:
            raise AssertionError("The body was read.")

        readline = read

    sent: dict[str, Any] = {"wsgi.input": Body(), "CONTENT_LENGTH": str(MOST_BYTES + 1)}
    answer = Client().generic("POST", "/ratings/", content_type="multipart/form-data; boundary=x", **sent)

    assert answer.status_code == 413


def test_the_page_has_what_a_study_s_results_have_contents_print_and_the_table_as_csv(
    researcher_client: Client,
) -> None:
    address, upload = computed(researcher_client)

    page = html_of(researcher_client.get(address))
    file = researcher_client.get(f"{address}leaderboard.csv", {"criterion": "empathy"})

    assert "data-contents" in page
    assert "data-print" in page
    assert f"{address}leaderboard.csv" in page
    assert file["Content-Disposition"] == f'attachment; filename="ratings-{upload.sha256[:12]}-leaderboard.csv"'
    lines = file.content.decode().splitlines()
    assert lines[0].startswith("rank,model,outcome")
    assert {line.split(",")[-2] for line in lines[1:]} == {"empathy"}
    links = re.findall(r'<li><a href="#([^"]+)"', page)
    assert all(f'id="{name}"' in page for name in links)

    another = Client()
    another.force_login(User.objects.create_user("someone"))
    assert another.get(f"{address}leaderboard.csv").status_code == 404
