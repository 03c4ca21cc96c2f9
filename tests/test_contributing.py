"""CONTRIBUTING.md shows how to add things: each test does what its section says, and nothing more.

The page's half of a protocol is followed by frontend/tests/guide.test.mjs.
"""

import ast
import io
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from generation.corpora import formats
from generation.metrics.all_metrics import METRICS
from generation.models import Candidate, Dialog, GeneratorScore
from generation.networks import families
from generation.networks.families import FAMILIES
from generation.registry import KINDS
from hits.batching import build_hits
from hits.crowds import CROWDS
from hits.designing import create_study
from hits.exporting import check_bundle
from hits.models import Exclusion, Rating, Study, offering_for
from hits.protocols import PROTOCOLS
from hits.protocols.checking_protocols import checked_protocol
from hits.screening import RULES, parse_rules, screen, with_rule_tables
from tests.conftest import DEMO
from tests.generation.scripted_runs import make_dialogs
from tests.hits.protocol_contract import check_protocol
from tests.hits.test_screening import hand_in
from tests.hits.toy_crowd import ToyCrowd
from tests.hits.working import Worker

GUIDE = (Path(__file__).resolve().parent.parent / "CONTRIBUTING.md").read_text()


def follow(section: str, module_name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], str]:
    """Make the section's file a module. Return the line that goes into the registry, and the names that it may use."""
    text = re.split(r"^## ", GUIDE, flags=re.MULTILINE)
    (found,) = [part for part in text if part.startswith(f"{section}\n")]
    file, lines = re.findall(r"```(?:python|text)\n(.*?)```", found, re.DOTALL)
    module = ModuleType(module_name)
    monkeypatch.setitem(sys.modules, module_name, module)
    exec(file, module.__dict__)
    names: dict[str, Any] = {}
    *imports, line = lines.split("\n\n")
    for one in imports:
        exec(one, names)  # as it stands in the registry
    return names, line


@pytest.mark.django_db
def test_the_file_and_line_of_a_kind_make_one_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    _, line = follow("A kind of generator", "generation.generators.parrot", monkeypatch)
    [(kind, place)] = ast.literal_eval(f"{{{line}}}").items()
    monkeypatch.setitem(KINDS, kind, place)
    make_dialogs("Hi.")

    call_command("generate_candidates", dataset="D", generator="polly", kind=kind, setting=["is_loud=true"], here=True)

    assert Candidate.objects.get().text == "HI."


@pytest.mark.django_db
def test_the_file_and_line_of_a_family_make_one_that_is_trained_and_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, line = follow("A network family", "generation.networks.bigram", monkeypatch)
    [(name, entry)] = eval(f"{{{line}}}", vars(families)).items()
    monkeypatch.setitem(FAMILIES, name, entry)
    monkeypatch.setitem(KINDS, name, "generation.generators.own_networks:NetworkGenerator")
    data = tmp_path / "d.jsonl"
    lines = [{"id": number, "context": [f"Hello {number}."], "reference": "I am fine."} for number in range(20)]
    data.write_text("".join(json.dumps(one) + "\n" for one in lines))
    make_dialogs("How are you?")
    sizes = ["--width=16", "--heads=2", "--vocabulary=300", "--device=cpu"]
    pace = ["--learning-rate=0.05", "--batch-size=20", "--max-steps=60"]

    call_command(
        "train_generator", name, f"--data={data}", f"--validation={data}", f"--out={tmp_path / 'it'}", *sizes, *pace
    )
    settings = ["beams=2", "no_repeat_ngram=0"]
    model: dict[str, Any] = {"generator": "b", "kind": name, "checkpoint": str(tmp_path / "it"), "setting": settings}
    call_command("generate_candidates", dataset="D", here=True, **model)

    assert Candidate.objects.get().text == "I am fine."


@pytest.mark.django_db
def test_the_file_and_line_of_a_metric_make_a_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names, line = follow("A metric", "generation.metrics.length", monkeypatch)
    (metric,) = eval(f"[{line}]", names)
    before = METRICS[:]
    METRICS.append(metric)
    make_dialogs("Hi.")
    _, kind_line = follow("A kind of generator", "generation.generators.parrot", monkeypatch)
    [(kind, place)] = ast.literal_eval(f"{{{kind_line}}}").items()
    monkeypatch.setitem(KINDS, kind, place)
    call_command("generate_candidates", dataset="D", generator="polly", kind=kind, here=True)

    try:
        call_command("score_candidates", dataset="D", without_similarity=True)
    finally:
        METRICS[:] = before

    assert GeneratorScore.objects.get(metric="mean_words").value == 2  # the word and the full stop
    assert "Words" in capsys.readouterr().out


@pytest.mark.django_db
def test_the_file_and_line_of_a_format_read_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names, line = follow("An import format", "generation.corpora.bars", monkeypatch)
    (added,) = eval(f"[{line}]", names)
    monkeypatch.setattr(formats, "FORMATS", [*formats.FORMATS, added])
    (tmp_path / "two.bars").write_text("I passed! | Well done!\nAlone.\n")

    call_command("import_dialogs", str(tmp_path / "two.bars"), dataset="D")

    dialog = Dialog.objects.get()
    assert (dialog.turns, dialog.gold, dialog.external_id) == (["I passed!"], "Well done!", "line 1")


@pytest.mark.usefixtures("example_corpus")
def test_the_file_and_line_of_a_rule_screen_a_study_and_stand_in_form_docs_and_evidence(
    monkeypatch: pytest.MonkeyPatch, demo_study: Study, researcher_client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    names, line = follow("A screening rule", "hits.screening.silent_rules", monkeypatch)
    (rule,) = eval(f"[{line}]", names)
    monkeypatch.setitem(RULES, rule.model_fields["rule"].default, rule)
    hand_in(demo_study, "QUIET", 0)
    hand_in(demo_study, "QUIET", 1)
    hand_in(demo_study, "ONCE", 0)

    rules = parse_rules(demo_study, {"screening": [{"rule": "same_answer"}, {"rule": "silent", "assignments": 2}]})
    screen(offering_for(demo_study, "local"), timezone.now(), rules)

    left_out = Exclusion.objects.get()
    assert (left_out.crowd_worker_id, left_out.evidence) == ("QUIET", {"assignments": 2, "comments": 0})
    monitor = researcher_client.get("/studies/demo/monitor/").content.decode()
    assert "silent" in monitor
    assert "assignments 2" in monitor
    call_command("show_results", "demo")
    assert "without silent" in capsys.readouterr().out
    create_study({**DEMO, "name": "next", "screening": [{"rule": "silent"}]}, User.objects.get())
    form = researcher_client.get("/studies/next/edit/checkpoints/").content.decode()
    assert 'value="silent" checked> Leaves out workers who did at least so many assignments' in " ".join(form.split())
    table = with_rule_tables("<!-- rules: further --><!-- end of rules -->")
    assert "| `silent` | `assignments` 2 | Leaves out workers" in table


@pytest.mark.django_db(transaction=True)
def test_the_file_and_line_of_a_protocol_make_one_that_is_answered_and_exported(
    example_corpus: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names, line = follow("A protocol", "hits.protocols.thumbs", monkeypatch)
    (protocol,) = eval(f"[{line}]", names)
    monkeypatch.setitem(PROTOCOLS, protocol.name, checked_protocol(protocol))
    check_protocol(protocol)
    study = create_study({**DEMO, "protocol": "thumbs"})
    build_hits(study)

    call_command("publish_hits", "demo", hits=2, yes=True)
    call_command("simulate_crowd", "demo", seed=7)
    call_command("sync_hits", "demo")
    call_command("export_study", "demo", out=tmp_path / "bundle")

    assert set(Rating.objects.values_list("value", flat=True)) == {"up", "down"}
    assert check_bundle(tmp_path / "bundle") == []


@pytest.mark.django_db(transaction=True)
def test_the_file_and_line_of_a_crowd_bring_workers_and_send_them_back(
    monkeypatch: pytest.MonkeyPatch, example_corpus: None
) -> None:
    """What the guide leaves out of the contract is the toy crowd's."""
    monkeypatch.setitem(sys.modules, "hits.crowds.lab", ModuleType("hits.crowds.lab"))
    names, line = follow("A crowd", "hits.crowds.lab.lab_crowd", monkeypatch)
    whole = type("LabCrowd", (names["LabCrowd"], ToyCrowd), {})
    [(name, crowd)] = eval(f"{{{line}}}", {"LabCrowd": whole}).items()
    monkeypatch.setitem(CROWDS, name, crowd)
    study = create_study({**DEMO, "crowd": {"countries": [], "min_approved": 0, "min_approval_percent": 0}})
    build_hits(study)

    call_command("publish_hits", "demo", crowd=name, stdout=io.StringIO(), stderr=io.StringIO())
    worker = LabWorker(study.hits.get(number=0)).open()
    submission = worker.submit().json()

    assert (submission["way"], submission["action"]) == ("redirect", "https://lab.example.org/done?visit=v-1")
    assert LabWorker(worker.hit).open(look="1").data["mode"] == "preview"
    assert worker.visit(participant="").status_code == 403


class LabWorker(Worker):
    def parameters(self, **others: str) -> dict[str, str]:
        return {"participant": "ann", "visit": "v-1", **others}
