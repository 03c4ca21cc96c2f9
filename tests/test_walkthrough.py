"""Read this first: the whole walk of the data, from a corpus on, through public functions only.

Each later room adds its step here: published, answers, paid and screened, results, export.
"""

import pytest

from generation.counting import count_datasets
from generation.importing import import_candidates, import_dialogs
from generation.models import Candidate, Dataset, Dialog
from generation.style_check import check_dataset_style
from hits.batching import build_hits
from hits.designing.studies import create_study, read_study_file
from hits.designing.summarising import summarise
from hits.models.design import StudyDesign
from tests.conftest import CORPUS, ROOT


@pytest.mark.django_db
def test_from_a_corpus_to_built_hits() -> None:
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
    assert [check_dataset_style(dataset).findings for dataset in Dataset.objects.all()] == [[], [], []]

    # A study says which dialogs, whose replies, how many raters and which pay, and knows its cost before it begins.
    study = create_study(read_study_file(ROOT / "examples" / "demo.toml"))
    assert summarise(StudyDesign.model_validate(study.design)).total == "$14.40"

    # Its HITs are built once, balanced, and frozen: the hash names exactly what workers will see.
    built = build_hits(study)
    study.refresh_from_db()
    assert (built.hit_count, built.checkpoint_count, len(study.manifest_hash)) == (6, 18, 64)
