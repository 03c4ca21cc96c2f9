"""Read this first: the whole walk of the data, from a corpus to a bundle, through public functions only.

`make test` takes it on PostgreSQL: on SQLite, the demo does.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from generation.counting import count_datasets
from generation.importing import import_candidates, import_dialogs
from generation.models import Candidate, Dataset, Dialog
from generation.style_check import check_dataset_style
from hits.analysing import analyse_study
from hits.batching import build_hits
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket, boto_client
from hits.designing import create_study, read_study_file, summarise
from hits.exporting import check_bundle, export_bundle
from hits.models import offering_for
from hits.paying import pay
from hits.publishing import plan_publishing, publish_hits
from hits.screening import screen
from localturk import in_process
from simulated_crowd.channels import InProcess
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import read_truth
from tests.conftest import CORPUS, ROOT


def now() -> datetime:
    return datetime.now(UTC)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_from_a_corpus_to_a_bundle(tmp_path: Path) -> None:
    # Corpora become dialogs: a context that waits for a reply, and the reply that a human gave.
    for name in ("subtitles", "emotional", "empathetic"):
        import_dialogs(CORPUS / f"{name}.jsonl", f"example-{name}")
    assert Dialog.objects.with_gold().count() == 60

    # Generators answer them, and their replies become candidates, shown in a form that does not tell who wrote them.
    import_candidates(CORPUS / "candidates.jsonl")
    assert all(coverage.is_complete for counts in count_datasets(Dataset.objects.all()) for coverage in counts.coverage)
    tokenised = Candidate.objects.get(dialog__external_id="empathetic-001", generator__name="listener-small")
    assert tokenised.text == "that 's awesome , i bet she was very proud of you ."
    assert tokenised.display_text == "That's awesome, I bet she was very proud of you."

    # Nothing about its looks gives the human reply away.
    assert not any(check_dataset_style(dataset).is_notable for dataset in Dataset.objects.all())

    # A study says which dialogs, whose replies, how many raters and which pay, and knows its cost before it begins.
    study = create_study(read_study_file(ROOT / "examples" / "demo.toml"))
    assert summarise(study.parsed_design).total == "$14.40"

    # Its HITs are built once, balanced, and frozen: the hash names exactly what workers will see.
    built = build_hits(study)
    study.refresh_from_db()
    assert (built.hit_count, built.checkpoint_count, len(study.manifest_hash)) == (6, 18, 64)

    # They are published, here to the marketplace that runs in this process; workers answer, and are paid for it.
    client = boto_client("http://localturk.invalid", has_own_credentials=False)
    in_process.attach(client)
    market = MTurkMarket(client, calls_per_second=1000)
    publish_hits(plan_publishing(offering_for(study, "local"), 2), market, "https://eval.example.org/work", now)
    simulate(study, Crowd(12, read_truth("demo"), seed=4), InProcess(), ends_at=now())
    assert collect(offering_for(study, "local"), market, now()).new == 8
    assert pay(offering_for(study, "local"), market, now).rewards == 8

    # Screening leaves out what is not worth counting; what is kept says which model is better, and how sure that is.
    screened = screen(offering_for(study, "local"), now())
    assert screened.funnel.received.answers == 80
    ranking = analyse_study(offering_for(study, "local")).main.rankings[0]
    assert isinstance(ranking.ranked, tuple)
    assert {one.generator for one in ranking.ranked} == {"generic", "listener-large", "listener-small", "parrot"}

    # Everything goes into one bundle, which its ratings alone reproduce.
    bundle = export_bundle(offering_for(study, "local"), tmp_path / "bundle")
    assert check_bundle(bundle.folder) == []
