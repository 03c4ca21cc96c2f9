"""What a redesign must not change: one fixed study, from its HITs to its bundle, through commands and pages only.

`study.json` was written by the first form. The test goes through what users have (commands, addresses, files), so that
rooms, names and tables behind them may move. When behaviour is changed on purpose, and only then, write it anew:

    FREEZE=1 python -m pytest tests/frozen
"""

import csv
import io
import json
import os
import re
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from hits.models import Study
from simulated_crowd.channels import InProcess
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate, usual_size
from simulated_crowd.truths import read_truth
from tests.hits.crowd import CrowdWorker, people

EXPECTED = Path(__file__).with_name("study.json")
SECRET = "00112233445566778899aabbccddeeff"
KEY = UUID("01234567-89ab-cdef-0123-456789abcdef")
RATING_COLUMNS = (
    "assignment worker hit block wave dataset dialog position is_checkpoint card place is_first_of_card generator "
    "is_human value score label active_ms hidden_ms is_kept"
).split()
LEDGER_COLUMNS = "kind worker cents fee_cents state paid_by refusal reason".split()


@pytest.fixture
def fixed_study(example_corpus: None, researcher: User) -> Study:
    """The demo study, with fixed values for what is else drawn anew each time."""
    run("create_study", "examples/demo.toml")
    run("build_hits", "demo")
    Study.objects.update(key=KEY, order_secret=SECRET, owner=researcher)
    return Study.objects.get()


@pytest.mark.django_db(transaction=True)
def test_a_study_is_what_it_was(fixed_study: Study, tmp_path: Path, researcher_client: Client) -> None:
    found: dict[str, Any] = {"HITs": _hits(fixed_study)}
    run("publish_hits", "demo", "--environment", "local", "--yes")
    found["worker's page"] = _page_data(fixed_study)
    _work_at_noon(fixed_study)
    run("sync_hits", "demo")
    run("screen_study", "demo")
    found["results"] = run("show_results", "demo").splitlines()
    run("export_study", "demo", "--out", str(tmp_path / "bundle"))
    found |= _bundle(tmp_path / "bundle")
    ledger = b"".join(researcher_client.get("/studies/demo/ledger.csv?environment=local"))
    found["ledger"] = sorted(_columns(ledger.decode(), LEDGER_COLUMNS))  # paid in any order

    if os.environ.get("FREEZE"):
        EXPECTED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    expected = json.loads(EXPECTED.read_text())
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name] == expected[name], name


def _work_at_noon(study: Study) -> None:
    """As `simulate_crowd demo --seed 7`, but never around midnight: results compare days."""
    noon = datetime.now(UTC).replace(hour=12, minute=0) - timedelta(days=1)
    simulate(study, Crowd(usual_size(study), read_truth("demo"), seed=7), InProcess(), ends_at=noon)


def run(*words: str) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def _hits(study: Study) -> list[str]:
    return [
        f"{hit.number}: {item.position} {item.dialog} {len(item.cards)} cards{' checkpoint' * item.is_checkpoint}"
        for hit in study.hits.all()
        for item in hit.items.all()
    ]


def _page_data(study: Study) -> dict[str, Any]:
    """What the browser of a worker who has accepted the first HIT is given."""
    worker = CrowdWorker(study.hits.all()[0], people()[0])
    worker.open()
    worker.give_back()
    return {**worker.data, "token": "", "submission": None, "seconds_used": 0}


def _bundle(folder: Path) -> dict[str, Any]:
    ratings = _columns((folder / "ratings.csv").read_text(), RATING_COLUMNS)
    manifest = re.sub(r'"card_order_commitment":"\w+"', "", (folder / "manifest.jsonl").read_text())
    tables = sorted((folder / "tables").glob("*.tex"))
    return {
        "manifest": sha256(manifest.encode()).hexdigest(),
        "ratings": {"sha256": sha256("\n".join(ratings).encode()).hexdigest(), "first": ratings[:20]},
        "tables": {path.name: path.read_text().splitlines() for path in tables},
    }


def _columns(text: str, names: list[str]) -> list[str]:
    return [" | ".join(row[name] for name in names) for row in csv.DictReader(io.StringIO(text))]
