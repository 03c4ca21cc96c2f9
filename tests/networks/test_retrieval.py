"""Networks that choose a reply: equations, sizes, pools, training, exact search, and where replies are from."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from django.core.management import call_command
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from generation.contexts import Context
from generation.corpora.import_records import DialogRecord
from generation.errors import CheckpointRefused, DataRefused, SettingsRefused, TrainingRefused
from generation.networks.checkpoint import load_checkpoint
from generation.networks.labeller import MOST_LABEL_TOKENS
from generation.networks.pool_vectors import best_replies, open_vectors
from generation.networks.reply_pool import make_pool
from generation.networks.retrieval import RetrievalTransformer, train_words
from generation.networks.retrieval_hf import MINILM, EncoderRetrieval, EncoderRetrievalConfig, start_from
from generation.networks.retrieval_texts import RetrievalConfig, RetrievalTexts
from generation.networks.unfilled import build_unfilled
from generation.registry import load_kind
from generation.training.state import STATE
from tests.networks.training_runs import THINGS, Killed, Listener, Run, assert_same_tensors, history

TINY: dict[str, Any] = {"width": 4, "heads": 2, "layers": 1, "feed_forward": 16, "max_tokens": 12}


def fill(parameter: torch.Tensor, start: int) -> None:
    numbers = torch.arange(parameter.numel())
    with torch.no_grad():
        parameter.copy_((0.3 * torch.sin(numbers + start)).view_as(parameter))


def test_the_paper_s_sizes_give_its_numbers_of_parameters() -> None:
    config = RetrievalConfig("retrieval", 250_006, max_tokens=1000 - MOST_LABEL_TOKENS)
    network = build_unfilled(lambda: RetrievalTransformer(config))

    trained = sum(one.numel() for one in network.parameters())
    assert trained == 83_673_000
    assert trained + 2 * network.positions.numel() == 84_273_000  # the paper's 84.3M count fixed positions twice


def test_two_minilms_have_the_known_number_of_parameters_without_their_poolers() -> None:
    network = start_from(MINILM, "retrieval-hf", {"vector": 300}).network

    pooler = 384 * 384 + 384
    assert sum(one.numel() for one in network.parameters()) + 2 * pooler == 45_657_432


def test_an_encoder_gives_the_known_vector_with_and_without_padding() -> None:
    network = RetrievalTransformer(RetrievalConfig("retrieval", 10, **TINY)).eval()
    fill(network.words.weight, 7)
    layer: Any = network.contexts[0]
    attention, inner, outer = layer.attention, layer.feed_forward.inner, layer.feed_forward.outer
    for place, part in enumerate(zip(*(one.chunk(3) for one in attention.query_key_value.parameters()), strict=True)):
        fill(part[0], 1 + place)
        fill(part[1], 11 + place)
    for linear, starts in ((attention.output, (4, 14)), (inner, (5, 15)), (outer, (6, 16))):
        fill(linear.weight, starts[0])
        fill(linear.bias, starts[1])

    with torch.no_grad():
        alone = network.embed_contexts(torch.tensor([[3, 5, 2]]))
        padded = network.embed_contexts(torch.tensor([[3, 5, 2, 1, 1], [4, 4, 4, 4, 4]]))

    assert alone[0].tolist() == pytest.approx([0.6510, 0.4071, -1.0441, -0.0140], abs=1e-4)
    assert padded[0].tolist() == pytest.approx(alone[0].tolist(), abs=1e-6)


def test_of_a_long_context_the_newest_tokens_and_turns_are_read() -> None:
    tokenizer = train_words(["one two three four five six seven eight nine . ..."] * 2, 100)
    config = RetrievalConfig("retrieval", tokenizer.get_vocab_size(), max_tokens=5, context_turns=2, joint=[2])
    texts = RetrievalTexts(tokenizer, config)

    def words(ids: Sequence[int]) -> list[str | None]:
        return [tokenizer.id_to_token(number) for number in ids]

    ids, cut = texts.context(["one", "two three four five", "six seven..."])
    assert (words(ids), cut) == (["five", "</s>", "six", "seven", "..."], 2)
    ids, cut = texts.context(["six", "seven."])
    assert (words(ids), cut) == (["six", "</s>", "seven", "."], 0)
    assert words(texts.reply("one two three four five six")) == ["one", "two", "three", "four", "five"]
    assert words(texts.context(["<pad> One"])[0]) == ["<unk>"]  # cased, and a typed pad token is no padding


def _record(number: int, *turns: str) -> DialogRecord:
    return DialogRecord(number, f"d{number}", list(turns[:-1]), gold=turns[-1])


def test_a_pool_has_each_reply_of_known_words_once_and_says_where_it_is_from(tmp_path: Path) -> None:
    dialogs = [
        _record(1, "Hi there.", "Hello.", "Strange word here."),
        _record(2, "Good day.", "Hello.", "Too " + "long " * 20, "Bye."),
    ]

    pool = make_pool(
        ((f"set{number}", record) for number, record in enumerate(dialogs)),
        lambda text: 0 if "Strange" in text else len(text.split()),
        tmp_path / "pool.jsonl",
    )

    assert pool.texts(0, 9) == ["Hello.", "Bye."]
    assert pool[0].source == {"dataset": "set0", "dialog": "d1", "turn": 2}
    assert pool[1].source == {"dataset": "set1", "dialog": "d2", "turn": 4}
    assert pool.own_replies(["Good  day.", "Hello."]).tolist() == [1]
    with pytest.raises(DataRefused, match="No reply in the data"):
        make_pool(iter([]), len, tmp_path / "empty.jsonl")


def test_a_pool_that_would_be_too_large_is_a_sample_that_does_not_depend_on_the_order(tmp_path: Path) -> None:
    dialogs = [("set", _record(number, "Hi.", f"Reply number {number}.")) for number in range(200)]

    pools = [
        make_pool(iter(listed), len, tmp_path / f"{number}.jsonl", most=50)
        for number, listed in enumerate((dialogs, dialogs[::-1]))
    ]

    assert [len(pool) for pool in pools] == [50, 50]
    assert sorted(pools[0].texts(0, 50)) == sorted(pools[1].texts(0, 50))


def test_search_finds_the_best_reply_of_all_blocks_and_leaves_out_what_it_must(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    wanted = rng.normal(size=(50, 8)).astype(np.float32)
    made = []

    def embed(texts: Sequence[str]) -> torch.Tensor:
        made.append(len(texts))
        return torch.from_numpy(wanted[[int(text) for text in texts]])

    def texts(start: int, end: int) -> list[str]:
        return [str(number) for number in range(start, min(end, 50))]

    vectors = open_vectors(tmp_path / "checkpoint", "first", texts, 50, 8, embed)
    again = open_vectors(tmp_path / "checkpoint", "first", texts, 50, 8, embed)
    queries = torch.from_numpy(rng.normal(size=(3, 8)).astype(np.float32))
    plain = queries.numpy() @ wanted.T
    banned = np.argsort(-plain[1])[:2]
    none = np.array([], dtype=np.int64)

    scores, numbers = best_replies(queries, again, [none, banned, np.arange(50)], most_scores=21)  # seven a block

    assert sum(made) == 50
    assert isinstance(again, np.memmap)
    np.testing.assert_array_equal(vectors, wanted)
    assert numbers[:2].tolist() == [plain[0].argmax(), np.argsort(-plain[1])[2]]
    assert scores.tolist() == pytest.approx([plain[0].max(), np.sort(plain[1])[-3], -math.inf])
    open_vectors(tmp_path / "checkpoint", "second", texts, 50, 8, embed)
    assert [path.name for path in (tmp_path / "checkpoint.vectors").iterdir()] == ["second.npy"]


def test_a_trained_retrieval_answers_with_replies_of_other_dialogs_and_resumes_when_killed(
    run: Run, tmp_path: Path
) -> None:
    run("retrieval", "whole", max_steps=24, validate_every=12, dropout=0.0)
    with pytest.raises(Killed):
        run("retrieval", "killed", max_steps=24, validate_every=12, dropout=0.0, listener=Listener(kill_at=16))
    run("retrieval", "killed", max_steps=24, validate_every=12, dropout=0.0)

    assert history(tmp_path / "killed.training") == history(tmp_path / "whole.training")
    assert_same_tensors(tmp_path / "killed.training" / STATE, tmp_path / "whole.training" / STATE)
    assert history(tmp_path / "whole.training")[-1]["accuracy"] > 2 / 8  # chance is an eighth
    generator = load_kind("retrieval").load(str(tmp_path / "whole"), {}, "cpu")
    contexts = [Context((f"I lost my {thing}.",)) for thing in THINGS]
    replies = generator.answer(contexts, [0] * len(contexts))
    one_by_one = [generator.answer([context], [9])[0] for context in reversed(contexts)]
    assert [reply.text for reply in one_by_one] == [reply.text for reply in reversed(replies)]
    assert {reply.source["dataset"] for reply in replies} == {"dialogs.jsonl"}
    assert all(reply.source["turn"] in (2, 3, 4) for reply in replies)


def test_a_dialog_is_not_answered_from_itself(run: Run, tmp_path: Path) -> None:
    run("retrieval", "small", max_steps=1, validate_every=1)
    generator = load_kind("retrieval").load(str(tmp_path / "small"), {}, "cpu")
    lines = (tmp_path / "small" / "pool.jsonl").read_text().splitlines()
    pool = {(line["dialog"], line["turn"]): line for line in map(json.loads, lines)}

    for thing in THINGS:
        (reply,) = generator.answer([Context((f"I found my {thing}!",))], [0])
        own = pool[reply.source["dialog"], reply.source["turn"]]
        assert own["text"] == reply.text
        assert thing not in reply.text


def test_another_pool_can_be_put_in_and_what_does_not_fit_is_refused(run: Run, tmp_path: Path, data: Path) -> None:
    run("retrieval", "small", max_steps=1, validate_every=1)
    more = tmp_path / "more.jsonl"
    more.write_text(json.dumps({"id": 1, "context": ["Hm."], "reference": "Poor garden."}) + "\n")

    call_command("make_pool", str(tmp_path / "small"), data=[str(more)])

    (reply,) = load_kind("retrieval").load(str(tmp_path / "small"), {}, "cpu").answer([Context(("I lost it.",))], [0])
    assert (reply.text, reply.source) == ("Poor garden.", {"dataset": "more.jsonl", "dialog": "1", "turn": 2})
    (own,) = load_kind("retrieval").load(str(tmp_path / "small"), {}, "cpu").answer([Context(("Hm.",))], [0])
    assert own.failure == "the pool has replies of this dialog only"
    with pytest.raises(SettingsRefused, match="There is no setting 'beams'"):
        load_kind("retrieval").check(str(tmp_path / "small"), {"beams": 4})
    with pytest.raises(TrainingRefused, match="leave --accumulate out"):
        run("retrieval", "parts", accumulate=2)
    (tmp_path / "small" / "pool.jsonl").write_text("{}\n")
    with pytest.raises(CheckpointRefused, match=r"pool\.jsonl is broken: line 1") as refused:
        load_kind("retrieval").load(str(tmp_path / "small"), {}, "cpu")
    assert "\n" not in str(refused.value)
    (tmp_path / "small" / "pool.jsonl").unlink()
    with pytest.raises(CheckpointRefused, match="`make_pool` puts them in"):
        load_kind("retrieval").load(str(tmp_path / "small"), {}, "cpu")


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A BERT of a width of 16, with a vocabulary of words."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"i lost found my the yes poor good old . ? !".split(), *THINGS]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    named = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named).save_pretrained(tmp_path / "encoder")
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 32}
    BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained(tmp_path / "encoder")
    return tmp_path / "encoder"


@pytest.mark.parametrize("vector", [0, 6])
def test_two_encoders_of_hugging_face_are_trained_saved_and_answer(
    vector: int, encoder: Path, tmp_path: Path, run: Run
) -> None:
    run("retrieval-hf", "own", start="encoder", max_steps=4, validate_every=4, sizes={"vector": vector})
    run("retrieval-hf", "further", start="own", max_steps=4, validate_every=4)

    loaded = load_checkpoint(tmp_path / "further")
    assert (loaded.config.width, loaded.config.max_tokens) == (16, 100)
    assert loaded.network.embed_contexts(torch.tensor([[2, 5, 3]])).shape == (1, vector or 16)
    generator: Any = load_kind("retrieval-hf").load(str(tmp_path / "further"), {}, "cpu")
    contexts = [Context((f"I lost my {thing}.",)) for thing in THINGS]
    together = [reply.text for reply in generator.answer(contexts, [0] * 8)]
    assert together == [generator.answer([context], [0])[0].text for context in contexts]
    scores = generator.match_replies(contexts[:2], together[:2])
    assert np.shape(scores) == (2, 2)
    with pytest.raises(TrainingRefused, match="The encoder has its own width; leave --width out"):
        start_from(str(encoder), "retrieval-hf", {"width": 8})
    with pytest.raises(TrainingRefused, match="can't be started from") as refused:
        start_from(str(tmp_path / "nowhere"), "retrieval-hf", {})
    assert "\n" not in str(refused.value)


def test_an_encoder_with_code_of_its_own_is_refused_and_nobody_is_asked_to_run_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def refuse(prompt: str = "") -> str:
        asked.append(prompt)
        return "n"

    monkeypatch.setattr("builtins.input", refuse)
    sizes: dict[str, Any] = {"width": 8, "heads": 1, "layers": 1, "feed_forward": 8, "vocabulary_size": 9}
    # The library has this config, but no model for it, so that it would look for one in the named repository.
    encoder = {"model_type": "clap_text_model", "auto_map": {"AutoModel": "somebody/evil--model.Evil"}}

    with pytest.raises(CheckpointRefused, match="custom code"):
        EncoderRetrieval(EncoderRetrievalConfig("retrieval-hf", encoder=encoder, **sizes))

    assert asked == []
