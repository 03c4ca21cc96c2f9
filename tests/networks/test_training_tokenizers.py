"""Which tokenizer a training takes, and that it keeps to it."""

import json
import shutil
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, processors

from generation.errors import TrainingRefused
from generation.networks.checkpoint import load_checkpoint
from generation.networks.tokenizing import BEGIN, END, encode_context, train_tokenizer
from generation.training.state import STATE
from tests.networks.training_runs import THINGS, Killed, Listener, Run


@pytest.fixture(scope="module")
def roberta_s(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer.json like RoBERTa's: it adds <s> and </s> by itself, cuts, and ends with <mask>."""
    tokenizer = train_tokenizer([f"I found my {thing}!" for thing in THINGS] * 3, 310)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", END), ("<s>", BEGIN))
    tokenizer.enable_truncation(4)
    folder = tmp_path_factory.mktemp("roberta")
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_a_byte_level_bpe_is_taken_from_a_folder(roberta_s: Path, run: Run, tmp_path: Path) -> None:
    state = run("transformer", "taken", tokenizer=roberta_s, max_steps=1)

    checkpoint = load_checkpoint(tmp_path / "taken")
    theirs = Tokenizer.from_file(str(roberta_s / "tokenizer.json"))
    theirs.no_truncation()
    encoded = encode_context(checkpoint.tokenizer, ["I found my lamp!", "The lamp?"], (), 100).ids
    assert checkpoint.tokenizer.get_vocab() == theirs.get_vocab()
    assert checkpoint.config.vocabulary_size == theirs.get_vocab_size()
    assert encoded == theirs.encode("I found my lamp!", "The lamp?").ids  # <s> A </s></s> B </s>, as RoBERTa joins two
    assert state.step == 1


def test_a_run_that_goes_on_refuses_another_tokenizer(roberta_s: Path, run: Run, tmp_path: Path) -> None:
    run("transformer", "trained", max_steps=1)
    run("transformer", "taken", tokenizer=roberta_s, max_steps=1)

    with pytest.raises(
        TrainingRefused, match=r"began with tokenizer 'of 300 tokens, trained .* 'of 290 tokens, trained"
    ):
        run("transformer", "trained", vocabulary=290)
    with pytest.raises(TrainingRefused, match=r"began with tokenizer 'of 300 tokens, trained .* 'taken from a folder"):
        run("transformer", "trained", tokenizer=roberta_s)
    with pytest.raises(TrainingRefused, match=r"began with tokenizer 'taken from a folder, .* 'of 300 tokens, trained"):
        run("transformer", "taken")
    moved = shutil.copytree(roberta_s, tmp_path / "moved")
    assert run("transformer", "taken", tokenizer=moved, vocabulary=290, max_steps=2).step == 2


def test_a_run_that_was_begun_before_tokenizers_were_noted_goes_on(run: Run, tmp_path: Path) -> None:
    run("transformer", "old", max_steps=1)
    path = tmp_path / "old.training" / STATE
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    identity = json.loads(metadata["identity"])
    del identity["tokenizer"]
    save_file(load_file(path), path, metadata={**metadata, "identity": json.dumps(identity)})

    assert run("transformer", "old", max_steps=2).step == 2


def test_a_run_that_was_killed_before_it_saved_anything_begins_anew_with_the_tokenizer_that_it_is_told(
    run: Run, tmp_path: Path
) -> None:
    with pytest.raises(Killed):
        run("transformer", "killed", listener=Listener(kill_at=1))

    run("transformer", "killed", vocabulary=290, max_steps=1)

    assert load_checkpoint(tmp_path / "killed").config.vocabulary_size == 290
