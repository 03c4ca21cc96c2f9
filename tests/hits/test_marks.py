"""What is not from people says so: in every file of a bundle, in every answer of the API, in every CSV."""

import csv
import io
import re
import shutil
import zlib
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hits.access import make_token
from hits.analysing import compute_results
from hits.api import urls as api_urls
from hits.crowds.mturk.client import MTurkMarket
from hits.exporting import check_bundle, export_bundle
from hits.exporting.hashing import write_hashes
from hits.exporting.marks import NEEDS_NO_MARK, unmarked_files
from hits.models import Offering, Payment, Study, Submission, offering_for
from hits.screening import screen
from tests.hits.crowd import now
from tests.hits.rated import rate

SIMULATED = "Simulated: not for publication"
# What tells of a design and of no work. Everything else that the API answers carries the warning.
OF_DESIGNS = {"api-studies", "api-study"}
OF_NO_STUDY = {"api-docs", "api-schema", "api-not-found"}


@pytest.fixture
def offering(demo_study: Study, market: MTurkMarket) -> Offering:
    """A simulated study with work, pay and a screening."""
    rate(demo_study)
    found = offering_for(demo_study, "local")
    Payment.objects.bulk_create(
        Payment(submission=one, kind=Payment.Kind.REWARD, cents=40, fee_cents=8, intended_at=now(), paid_at=now())
        for one in Submission.objects.all()
    )
    screen(found, now())
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundles") / "whole"


@pytest.fixture
def bundle(whole: Path, offering: Offering) -> Path:
    """Made once, and only read."""
    if not whole.exists():
        export_bundle(offering, whole, has_texts=True)
    return whole


@pytest.mark.once
def test_every_file_of_a_bundle_says_it(bundle: Path) -> None:
    names = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}

    assert unmarked_files(bundle, SIMULATED) == []
    assert NEEDS_NO_MARK.keys() - {"repeats.csv"} <= names, "this study shows no dialog twice"
    for name in names - NEEDS_NO_MARK.keys():
        content = (bundle / name).read_bytes()
        words = content if not name.endswith(".pdf") else _drawn_words(content)
        assert SIMULATED.encode() in words, name
    # What has no words has a column instead.
    rows = list(csv.DictReader((bundle / "ratings.csv").open()))
    assert {row["origin"] for row in rows} == {"simulation"}
    assert (bundle / "ratings.jsonl").read_text().count('"origin":"simulation"') == len(rows)


@pytest.mark.once
def test_a_bundle_of_simulated_work_tells_of_no_pay_and_no_agreement(bundle: Path) -> None:
    facts = (bundle / "facts.json").read_text()

    assert '"paid": []' in facts
    assert '"minutes": null' in facts
    assert '"agreements": 0' in facts
    assert "heds.json" in {path.name for path in bundle.iterdir()}


@pytest.mark.once
def test_a_file_that_hides_it_is_found_though_its_hash_was_changed_with_it(bundle: Path, tmp_path: Path) -> None:
    assert check_bundle(bundle) == []
    for name in ("funnel.txt", "funnel.json", "facts.json", "heds.json", "methods.bib", "figures/shares.svg",
                 "figures/shares-column.pdf", "examples.tex", "tables/all.tex"):  # fmt: skip
        forged = tmp_path / "forged"
        shutil.copytree(bundle, forged)
        content = (forged / name).read_bytes()
        assert SIMULATED.encode() in content, name
        (forged / name).write_bytes(content.replace(SIMULATED.encode(), b"Real: ready for any publication"[:30]))
        write_hashes(forged)

        assert any(line.startswith(f"{name} does not say “{SIMULATED}”") for line in check_bundle(forged)), name
        shutil.rmtree(forged)


@pytest.mark.once
def test_a_new_kind_of_file_counts_as_unmarked(tmp_path: Path) -> None:
    (tmp_path / "table.xlsx").write_bytes(SIMULATED.encode())

    assert unmarked_files(tmp_path, SIMULATED) == ["table.xlsx"]


def test_every_answer_of_the_api_about_work_says_it(offering: Offering, researcher: User) -> None:
    cache.clear()
    compute_results(offering, timezone.now)
    token = make_token(researcher, "notebook", timezone.now())
    names = {pattern.name for pattern in api_urls.urlpatterns} - OF_NO_STUDY - OF_DESIGNS

    assert names == {"api-progress", "api-ratings", "api-results"}
    for name in names:
        address = reverse(name, args=[offering.study.key])
        answer = Client().get(address, headers={"Authorization": f"Token {token}"})
        assert answer.status_code == 200
        found = answer.json()
        assert SIMULATED in (found.get("warning"), found.get("origin", {}).get("warning")), name


def test_every_row_of_the_ledger_says_it(offering: Offering, researcher_client: Client) -> None:
    text = b"".join(researcher_client.get("/studies/demo/ledger.csv")).decode()
    rows = list(csv.DictReader(io.StringIO(text)))

    assert len(rows) == Payment.objects.count() > 0
    assert {(row["origin"], row["note"]) for row in rows} == {("simulation", SIMULATED)}


def _drawn_words(pdf: bytes) -> bytes:
    """Return the texts that a PDF of matplotlib draws, as they stand in its streams; kerning splits them into parts."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    drawn = b""
    for stream in streams:
        try:
            drawn += zlib.decompress(stream)
        except zlib.error:
            continue
    texts = re.findall(rb"BT(.*?)ET", drawn, re.DOTALL)
    return b"\n".join(b"".join(re.findall(rb"\((.*?)\)", text)).replace(b"\x00", b"") for text in texts)
