"""What networks are trained on: pairs, their order, and labels for dialogs that have none. Without torch."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generation.corpora.import_records import DialogRecord
from generation.emotions import LABELS
from generation.errors import DataRefused
from generation.importing import import_dialogs
from generation.training.context_pairs import Pair, Source, pairs_of
from generation.training.history import draw_curves
from generation.training.labelling import label_dialogs
from generation.training.ordering import epoch_batches, share_of
from tests.conftest import CORPUS, WriteFile


def dialog(*turns: str, labels: list[str] | None = None, conversation: str = "") -> DialogRecord:
    *context, gold = turns
    source = {"conv_id": conversation} if conversation else {}
    *turn_labels, gold_label = labels or [""]
    return DialogRecord(1, "d", context, gold, turn_labels=turn_labels, gold_label=gold_label, source=source)


def test_every_turn_but_the_first_is_a_target_once_though_contexts_grow() -> None:
    first = dialog("a", "b", labels=["sad", "caring"], conversation="1")
    second = dialog("a", "b", "c", "d", labels=["sad", "caring", "hopeful", "wishing"], conversation="1")
    elsewhere = dialog("a", "b", conversation="2")

    pairs = list(pairs_of([first, second, elsewhere]))

    assert pairs == [
        Pair(("a",), ("sad",), "b", "caring"),
        Pair(("a", "b"), ("sad", "caring"), "c", "hopeful"),
        Pair(("a", "b", "c"), ("sad", "caring", "hopeful"), "d", "wishing"),
        Pair(("a",), ("",), "b", ""),  # another conversation that happens to begin alike
    ]


def test_growing_contexts_are_known_without_names_of_conversations_and_dialogs_without_gold_teach_too() -> None:
    unanswered = DialogRecord(1, "d", ["a", "b", "c"])

    pairs = list(pairs_of([dialog("a", "b"), unanswered]))

    assert [(pair.turns, pair.reply) for pair in pairs] == [(("a",), "b"), (("a", "b"), "c")]


@pytest.mark.django_db
def test_a_dataset_and_the_file_that_it_came_from_give_the_same_pairs(write_lines: WriteFile) -> None:
    import_dialogs(CORPUS / "empathetic.jsonl", "example")

    assert list(pairs_of(Source(["example"]).records())) == list(
        pairs_of(Source([str(CORPUS / "empathetic.jsonl")]).records())
    )
    broken = Source([str(write_lines("{", {"id": 1, "context": ["Hi!"], "reference": "Hello."}))])
    assert len(list(pairs_of(broken.records()))) == 1
    assert broken.rejected == 1
    with pytest.raises(DataRefused, match="no file and no dataset named 'nothing'"):
        list(Source(["nothing"]).records())


def test_batches_hold_every_example_once_an_epoch_are_alike_in_length_and_depend_on_the_seed_alone() -> None:
    lengths = np.random.default_rng(1).integers(1, 100, 1003)

    batches = epoch_batches(lengths, 10, seed=5, epoch=2)

    assert sorted(np.concatenate(batches).tolist()) == list(range(1003))
    assert np.mean([np.ptp(lengths[batch]) for batch in batches]) < 5
    assert all(np.array_equal(a, b) for a, b in zip(batches, epoch_batches(lengths, 10, 5, 2), strict=True))
    assert not np.array_equal(batches[0], epoch_batches(lengths, 10, 5, 3)[0])
    parts = [part for rank in range(3) for part in share_of(batches[0], rank, 3, 2)]
    assert sorted(np.concatenate(parts).tolist()) == sorted(batches[0].tolist())


class Weathercock:
    """Calls a text joyful as surely as it has exclamation marks, and otherwise questioning."""

    def probabilities(self, texts: list[str]) -> Any:
        found = np.zeros((len(texts), len(LABELS)))
        shares = np.array([min(1.0, text.count("!") / 4) for text in texts])
        found[:, LABELS.index("joyful")] = shares
        found[:, LABELS.index("questioning")] = 1 - shares
        return found


def test_the_most_emotional_dialogs_are_selected_by_the_mean_over_their_turns(tmp_path: Path) -> None:
    out, others = tmp_path / "edos.jsonl", tmp_path / "os.jsonl"

    def records() -> Iterator[DialogRecord]:
        yield DialogRecord(1, "calm", ["Well.", "Well?"], "Yes.")
        yield DialogRecord(2, "mixed", ["Hooray!!!!"], "Why?", source={"conv_id": "m"})
        yield DialogRecord(3, "loud", ["Hooray!!!"], "Oh!!!")

    counts = label_dialogs(records(), Weathercock(), out, 2, others)

    assert (counts.labelled, counts.selected) == (3, 2)
    mixed, loud = map(json.loads, out.read_text().splitlines())
    assert (mixed["id"], mixed["context_labels"], mixed["reference_label"]) == ("mixed", ["joyful"], "questioning")
    assert (mixed["emotionality"], loud["emotionality"], mixed["conv_id"]) == (0.5, 0.75, "m")
    assert json.loads(others.read_text())["context_labels"] == ["questioning"] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edos.jsonl", "os.jsonl"]


def test_curves_are_a_figure_with_the_same_bytes_each_time() -> None:
    entry = {"step": 5, "training_loss": None, "perplexity_macro": 40.0, "perplexity_token_weighted": 44.0}

    drawn = draw_curves({"one": [entry, {**entry, "step": 10, "training_loss": 3.0}]})

    assert drawn.startswith(b"<?xml")
    assert b"one validation, macro" in drawn
    assert drawn == draw_curves({"one": [entry, {**entry, "step": 10, "training_loss": 3.0}]})
