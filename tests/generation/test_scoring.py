"""`score_candidates`: scores are computed where they are missing, kept, and shown as the papers' tables 3 and 4.

What embeds sentences or needs a network is in test_scoring_with_networks.py: importing those takes seconds.
"""

import math
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from generation.checkpoint_version import version_of
from generation.importing import import_candidates, import_dialogs
from generation.metrics.all_metrics import METRICS
from generation.metrics.published_tables import PAPER_TABLES
from generation.metrics.score_tables import tables_of_dataset, tables_of_generator
from generation.metrics.scoring import ScoringCounts, generators_in, score_candidates
from generation.models import Candidate, CandidateScore, Dataset, Dialog, GenerationRun, Generator, GeneratorScore
from generation.registry import KINDS
from tests.conftest import WriteFile
from tests.pages import html_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def toy_kind() -> Iterator[None]:
    KINDS["toy"] = "tests.generation.toy_kind:ToyGenerator"
    yield
    del KINDS["toy"]


@pytest.fixture
def dataset(write_lines: WriteFile) -> Dataset:
    """Three dialogs with a gold, one without; replies by a model that guesses the dialog's emotion to all but one."""
    lines = [
        {"id": 1, "context": ["He died."], "reference": "I'm so sorry.", "emotion": "sad", "reference_label": "sad"},
        {"id": 2, "context": ["I won!"], "reference": "Well done!", "emotion": "proud", "reference_label": "joyful"},
        {"id": 3, "context": ["Alone."], "reference": "Why?", "emotion": "lonely", "reference_label": "questioning"},
        {"id": 4, "context": ["Hello."], "emotion": "joyful"},
    ]  # fmt: skip
    replies = [
        {"id": 1, "generator": "guesser", "reply": "i 'm so sorry .", "label": "sad"},
        {"id": 2, "generator": "guesser", "reply": "i 'm so happy !", "label": "joyful"},
        {"id": 4, "generator": "guesser", "reply": "hi , hi !", "label": "joyful"},
    ]
    import_dialogs(write_lines(*lines), "ED")
    import_candidates(write_lines(*replies), "ED")
    return Dataset.objects.get()


def register(name: str, checkpoint: str = "") -> Generator:
    version = version_of("toy", checkpoint, {})
    return Generator.objects.create(name=name, kind="toy", checkpoint=checkpoint, version=version)


def answer_with(generator: Generator, dataset: Dataset, **labels: str) -> None:
    run = GenerationRun.objects.create(generator=generator, dataset=dataset, origin=GenerationRun.GENERATED)
    for dialog in dataset.dialogs.all():
        label = labels.get(f"dialog_{dialog.external_id}", "")
        Candidate.objects.create(
            dialog=dialog, generator=generator, run=run, text="Oh.", display_text="Oh.", predicted_label=label
        )


def score(dataset: Dataset, *names: str) -> ScoringCounts:
    return score_candidates(dataset, generators_in(dataset, names), with_slow=False)


def values_of(name: str) -> dict[str, float]:
    scores = GeneratorScore.objects.filter(generator__name=name).order_by("pk")
    return dict(scores.values_list("metric", "value"))


def test_an_imported_models_replies_are_scored_once(dataset: Dataset) -> None:
    first = score(dataset)
    second = score(dataset)

    values = values_of("guesser")
    words = "i'm so sorry . i'm so happy ! hi , hi !".split()
    assert values["distinct_1"] == pytest.approx(len(set(words)) / len(words))
    assert values["emotion_top_1"] == pytest.approx(2 / 3)
    assert not {"emotion_top_2", "label_f1", "perplexity", "similarity"} & set(values)
    scores = CandidateScore.objects.filter(metric="sentence_bleu")
    by_dialog = dict(scores.values_list("candidate__dialog__external_id", "value"))
    assert by_dialog.keys() == {"1", "2"}  # without a gold there is nothing to compare with
    assert by_dialog["1"] == pytest.approx(100)  # but for case and spaces, which workers do not see either
    assert first.reply_scores > 0
    assert (second.reply_scores, second.generator_scores) == (0, 0)


def test_new_replies_are_scored_and_older_scores_stay(dataset: Dataset, write_lines: WriteFile) -> None:
    score(dataset)
    import_candidates(write_lines({"id": 3, "generator": "guesser", "reply": "oh no .", "label": "sad"}), "ED")

    counts = score(dataset)

    assert counts.reply_scores > 0
    assert CandidateScore.objects.filter(metric="sentence_bleu").count() == 3
    assert sorted(GeneratorScore.objects.filter(metric="distinct_1").values_list("candidate_count", flat=True)) == [
        3,
        4,
    ]
    assert tables_of_dataset(dataset)[0].rows[0][:2] == ("guesser", 4)


@pytest.mark.usefixtures("toy_kind")
def test_a_generator_that_can_is_asked_how_likely_the_gold_is(dataset: Dataset) -> None:
    toy = register("toy")
    answer_with(toy, dataset, dialog_1="sad", dialog_2="sad", dialog_3="questioning")

    score(dataset, "toy")

    golds = [len(dialog.gold.split()) for dialog in Dialog.objects.with_gold()]
    losses = [(words * math.log(4) + math.log(2)) / (words + 1) for words in golds]
    values = values_of("toy")
    assert values["perplexity"] == pytest.approx(math.exp(sum(losses) / 3))
    total = sum(words * math.log(4) + math.log(2) for words in golds)
    assert values["perplexity_by_token"] == pytest.approx(math.exp(total / sum(words + 1 for words in golds)))
    assert values["label_recall"] == pytest.approx(2 / 3)
    assert values["label_precision"] == pytest.approx((1 / 2 + 0 + 1) / 3)
    ranks = [1, 2, 3, 4]  # sad, proud, lonely, joyful: what the toy always says
    assert [values[f"emotion_top_{most}"] for most in (1, 2, 5)] == [sum(r <= m for r in ranks) / 4 for m in (1, 2, 5)]


@pytest.mark.usefixtures("toy_kind")
def test_a_generator_that_is_gone_lacks_perplexity_and_nothing_else(dataset: Dataset) -> None:
    answer_with(register("gone", "gone"), dataset)

    counts = score(dataset)

    assert counts.problems == ["gone can't be loaded, so its perplexity stays unknown. There is no folder gone."]
    assert "bleu_4" in values_of("gone")
    assert "perplexity" not in values_of("gone")


@pytest.mark.usefixtures("toy_kind")
def test_the_command_and_the_page_show_the_papers_tables(dataset: Dataset, researcher_client: Client) -> None:
    answer_with(register("toy"), dataset, dialog_1="sad")
    page = f"/datasets/{dataset.pk}/"
    assert "score_candidates --dataset ED" in html_of(researcher_client.get(page))
    out = StringIO()

    call_command("score_candidates", dataset="ED", without_similarity=True, stdout=out)

    shown = out.getvalue()
    assert "ED: replies" in shown
    assert "ED: predicted labels" in shown
    assert "3 to 4 replies: Distinct falls" in shown
    html = html_of(researcher_client.get(page))
    tables = tables_of_dataset(dataset)
    assert [[name for name, _, _ in table.rows] for table in tables] == [["guesser", "toy"], ["guesser", "toy"]]
    for table in tables:
        for _, _, cells in table.rows:
            assert all(cell in shown and cell in html for cell in cells)
    assert tables_of_generator(Generator.objects.get(name="toy"))[0].rows[0][0] == "ED"


@pytest.mark.usefixtures("toy_kind")
def test_perplexity_says_how_many_dialogs_it_covers_and_when_it_can_t_be_compared(
    dataset: Dataset, researcher_client: Client
) -> None:
    """Four dialogs, of which three have a human reply."""
    answer_with(register("toy"), dataset)
    score(dataset, "toy")
    assert tables_of_dataset(dataset)[0].notes == [
        "PPL is over the 3 dialogs that have a human reply and were answered."
    ]
    other = register("other")
    answer_with(other, dataset)
    Candidate.objects.get(generator=other, dialog__external_id="1").delete()

    call_command("score_candidates", dataset="ED", without_similarity=True, stdout=(out := StringIO()))

    note = (
        "PPL is over dialogs that have a human reply and were answered: other 2, toy 3. "
        "It can be compared only between models with equal counts."
    )
    assert note in out.getvalue()
    assert note in html_of(researcher_client.get(f"/datasets/{dataset.pk}/"))
    assert "over the 2 dialogs" in html_of(researcher_client.get(f"/models/{other.pk}/"))


@pytest.mark.usefixtures("toy_kind")
def test_a_perplexity_that_was_counted_in_another_way_is_not_shown_and_computed_anew(dataset: Dataset) -> None:
    toy = register("toy")
    answer_with(toy, dataset)
    score(dataset, "toy")
    now = values_of("toy")["perplexity"]
    GeneratorScore.objects.filter(metric__startswith="perplexity").update(version="1", value=190.4)
    CandidateScore.objects.filter(metric__startswith="gold").update(version="1")

    assert "190.4" not in str(tables_of_dataset(dataset)[0].rows)
    score(dataset, "toy")

    assert f"{now:.1f}" in str(tables_of_dataset(dataset)[0].rows)


def test_the_command_says_what_is_there(dataset: Dataset) -> None:
    with pytest.raises(CommandError, match="no dataset named 'DE'; datasets: ED"):
        call_command("score_candidates", dataset="DE")
    with pytest.raises(CommandError, match="MEED has no replies to ED; models that have: guesser"):
        call_command("score_candidates", dataset="ED", generator=["MEED"])


def test_scores_stand_in_the_layout_of_a_paper_above_its_published_figures(
    dataset: Dataset, capsys: pytest.CaptureFixture[str]
) -> None:
    for paper in PAPER_TABLES:
        call_command("score_candidates", dataset="ED", without_similarity=True, paper=paper)

    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    values = values_of("guesser")
    mime = f"guesser {values['bleu_4']:.2f} {100 * values['emotion_top_1']:.0f} – –"
    empdg = f"guesser {values['emotion_top_1']:.4f} – {100 * values['distinct_1']:.2f} {100 * values['distinct_2']:.2f}"
    assert {mime, empdg, f"guesser – {values['bleu_average']:.2f} –"} <= set(lines)
    for published in ("MIME 2.98 34 58 77", "EmpDG 0.3431 34.18 1.81 6.94", "BERT, fine-tuned 65.92 6.21 –"):
        assert lines.index(published) > lines.index("Published")


def test_every_column_of_a_paper_is_one_that_a_metric_computes() -> None:
    computed = {column.name for metric in METRICS for column in metric.columns}

    for table in PAPER_TABLES.values():
        assert {column.metric for column in table.columns} <= computed
        assert {len(row) for row in table.published.values()} == {len(table.columns)}
