"""The kinds `hf-seq2seq` and `hf-causal` on tiny random networks, saved and loaded as real ones are.

Few tests, with torch imported inside of them: each process that runs one pays seconds for it.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from generation.checkpoint_version import version_of
from generation.contexts import Context
from generation.errors import CheckpointRefused, SettingsRefused
from generation.generators.hugging_face import CausalGenerator, Seq2SeqGenerator

WORDS = "hi hello how are you i am fine so glad sad to hear that what a day oh no yes".split()
CONTEXTS = [Context(("hi how are you",)), Context(("i am sad", "oh no", "what a day so sad")), Context(("yes",))]
CHAT = (
    "{% if messages[0].role == 'assistant' %}{{ raise_exception('a user begins') }}{% endif %}"
    "{% for m in messages %}{{ m.role[0] }} {{ m.content }} </s>{% endfor %}{% if add_generation_prompt %}a{% endif %}"
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[Any, Path]:
    import torch
    import transformers

    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("models")
    heads = {f"{part}_attention_heads": 2 for part in ("encoder", "decoder")}
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    count = len(WORDS) + 6
    bart = transformers.BartConfig(vocab_size=count, max_position_embeddings=24, **heads, **sizes, **ids)
    transformers.BartForConditionalGeneration(bart).save_pretrained(folder / "seq2seq")
    gpt = transformers.GPT2Config(vocab_size=count, n_positions=32, n_embd=16, n_layer=1, n_head=2, **ids)
    transformers.GPT2LMHeadModel(gpt).save_pretrained(folder / "causal")
    for name in ("seq2seq", "causal"):
        _tokenizer().save_pretrained(folder / name)
    return {Seq2SeqGenerator: folder / "seq2seq", CausalGenerator: folder / "causal"}


def _tokenizer(chat_template: str | None = None) -> Any:
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    names = ["<s>", "<pad>", "</s>", "<unk>", "u", "a", *WORDS]
    words = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=words, chat_template=chat_template, **special)


def load(kind: Any, folder: Path, **settings: Any) -> Any:
    checked = kind.check(str(folder), {"max_new_tokens": 12, **settings})
    return kind.load(str(folder), checked, "cpu")


def test_a_golds_likelihood_is_what_the_network_loses_on_it(folders: dict[Any, Path]) -> None:
    """Hugging Face's own loss, with the gold as labels."""
    import torch

    gold, end = "so sad to hear that", 2
    for kind, folder in folders.items():
        generator = load(kind, folder)
        model, tokenizer = generator._model, generator._tokenizer
        ids = [*tokenizer(gold)["input_ids"], end]

        [(total, tokens), (cut, most)] = generator.score_gold(CONTEXTS[1:], [gold, " ".join([gold] * 4)])

        context, _ = generator._encode(CONTEXTS[1].turns)
        with torch.inference_mode():
            if kind is Seq2SeqGenerator:
                loss = model(input_ids=torch.tensor([context]), labels=torch.tensor([ids])).loss
            else:
                labels = torch.tensor([[-100] * len(context) + ids])
                loss = model(input_ids=torch.tensor([context + ids]), labels=labels).loss
        assert tokens == len(ids)
        assert total == pytest.approx(-float(loss) * tokens, rel=1e-4)
        assert most == 12
        assert cut < total


def test_a_reply_is_the_same_whatever_the_batch_and_another_with_another_seed(folders: dict[Any, Path]) -> None:
    drawing = {"temperature": 1.0, "top_k": 9, "top_p": 0.9}
    for kind, folder in folders.items():
        for settings in ({}, drawing, {"beams": 3, "no_repeat_ngram": 2}):
            generator = load(kind, folder, **settings)

            together = generator.answer(CONTEXTS, [1, 2, 3])
            alone = [generator.answer([context], [seed])[0] for context, seed in zip(CONTEXTS, [1, 2, 3], strict=True)]

            assert [(one.text, one.failure) for one in together] == [(one.text, one.failure) for one in alone]
            assert [one.score for one in together] == pytest.approx([one.score for one in alone], abs=1e-4)

    generator = load(CausalGenerator, folders[CausalGenerator], temperature=2.0)
    drawn = [generator.answer(CONTEXTS[:1], [seed])[0] for seed in (1, 2, 3, 4, 5, 1)]
    assert len({(reply.text, reply.score) for reply in drawn[:5]}) == 5
    assert drawn[0] == drawn[5]


def test_drawing_follows_the_probabilities() -> None:
    import torch

    from generation.generators.token_picking import PickTokens

    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log().expand(4000, -1)

    def shares(top_k: int = 0, top_p: float = 1.0) -> list[float]:
        picked = PickTokens(range(4000), 1.0, top_k, top_p)(torch.zeros(4000, 1), logits).argmax(-1)
        return [(picked == token).float().mean().item() for token in range(4)]

    assert shares() == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=0.03)
    assert shares(top_k=2) == pytest.approx([0.625, 0.375, 0, 0], abs=0.03)
    assert shares(top_p=0.7) == pytest.approx([0.625, 0.375, 0, 0], abs=0.03)


def test_what_is_too_long_is_said(folders: dict[Any, Path]) -> None:
    for kind, folder in folders.items():
        generator = load(kind, folder)
        contexts = [Context(("hi how are you i am fine",) * 4), Context(("hello " * 50,)), Context(("hi",))]
        cut = [reply.turns_cut for reply in generator.answer(contexts, [1, 2, 3])]
        assert 1 <= cut[0] <= 3
        assert cut[1:] == [1, 0]

    brief = load(CausalGenerator, folders[CausalGenerator], max_new_tokens=1)
    failures = {reply.failure for reply in brief.answer(CONTEXTS, [1, 2, 3])}
    assert "endless" in failures
    assert failures <= {"endless", "empty"}


def test_a_chat_template_makes_the_context_and_may_insist_on_a_first_user(
    folders: dict[Any, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(folders[CausalGenerator], tmp_path / "chat")
    _tokenizer(CHAT).save_pretrained(folder)
    generator = load(CausalGenerator, folder)

    assert generator._chat.write(["hi", "hello", "yes"]) == "u hi </s>a hello </s>u yes </s>a"
    assert generator._chat.write(["hi", "hello"]) == "u  </s>a hi </s>u hello </s>a"
    assert len(generator.answer(CONTEXTS, [1, 2, 3])) == 3


def test_broken_checkpoints_are_refused_in_one_line(folders: dict[Any, Path], tmp_path: Path) -> None:
    def refused(kind: Any, folder: Path) -> str:
        with pytest.raises(CheckpointRefused) as refusal:
            load(kind, folder)
        assert "\n" not in str(refusal.value)
        return str(refusal.value)

    good = folders[CausalGenerator]
    weights = (good / "model.safetensors").read_bytes()
    folder = shutil.copytree(good, tmp_path / "broken")

    assert "its kind is hf-causal" in refused(Seq2SeqGenerator, good)
    (folder / "model.safetensors").write_bytes(weights[:-10])
    assert "bytes instead of" in refused(CausalGenerator, folder)
    (folder / "model.safetensors").write_bytes(b"\xff" * 100)
    assert "is broken" in refused(CausalGenerator, folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "Its weights are pickled" in refused(CausalGenerator, folder)
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "config.json").write_text(json.dumps({**json.loads((good / "config.json").read_text()), "n_layer": 2}))
    assert "its weights lack" in refused(CausalGenerator, folder)
    (folder / "config.json").write_text("{")
    assert "not JSON" in refused(CausalGenerator, folder)
    assert "has no config.json" in refused(CausalGenerator, tmp_path)
    assert "neither a folder nor a name" in refused(CausalGenerator, tmp_path / "no where")
    with pytest.raises(SettingsRefused, match="leaves no room"):
        load(CausalGenerator, good, max_new_tokens=32)
    with pytest.raises(SettingsRefused, match=r"^Tokens are either searched with beams or drawn"):
        load(CausalGenerator, good, beams=2, temperature=1.0)


def test_whatever_the_libraries_raise_is_a_refusal_in_one_line(folders: dict[Any, Path], tmp_path: Path) -> None:
    good = folders[CausalGenerator]
    weights = (good / "model.safetensors").read_bytes()
    raised: dict[str, dict[str, bytes | None]] = {  # with the type of what is raised
        "Exception": {"tokenizer.json": b'{"added_tokens": []}'},
        "ImportError": {"tokenizer.json": None, "tokenizer_config.json": b'{"tokenizer_class": "MarianTokenizer"}'},
        "SafetensorError": {"model.safetensors": weights.replace(b'"F32"', b'"F99"')},
    }

    for name, contents in raised.items():
        folder = shutil.copytree(good, tmp_path / name)
        for file, content in contents.items():
            (folder / file).unlink() if content is None else (folder / file).write_bytes(content)
        with pytest.raises(CheckpointRefused, match=r"can't be loaded: .*\w") as refusal:
            load(CausalGenerator, folder)

        assert "\n" not in str(refusal.value)
        assert type(refusal.value.__cause__).__name__ == name


def test_a_version_covers_content_and_settings_but_not_place_or_speed(folders: dict[Any, Path], tmp_path: Path) -> None:
    moved = shutil.copytree(folders[CausalGenerator], tmp_path / "moved")
    first = version_of("hf-causal", str(folders[CausalGenerator]), {"beams": 1, "batch_size": 8})

    assert version_of("hf-causal", str(moved), {"beams": 1, "batch_size": 2}) == first
    assert version_of("hf-causal", str(moved), {"beams": 2, "batch_size": 8}) != first
    (moved / "config.json").write_text("{}")
    assert version_of("hf-causal", str(moved), {"beams": 1, "batch_size": 8}) != first


def test_a_version_covers_every_file_that_can_decide_about_a_reply(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    versions = [version_of("hf-seq2seq", str(tmp_path), {})]

    for name in ("source.spm", "qwen.tiktoken", "merges.bpe", "sub/vocabulary"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a")
        versions.append(version_of("hf-seq2seq", str(tmp_path), {}))
    inert = "README.md LICENSE notice.txt .gitattributes .cache/known.json pytorch_model.bin modeling.py curves.png"
    for name in (*inert.split(), "runs/events.out.tfevents.1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a")

    assert len(set(versions)) == 5
    assert version_of("hf-seq2seq", str(tmp_path), {}) == versions[-1]


def test_the_version_of_an_ordinary_folder_is_the_same_in_every_release(tmp_path: Path) -> None:
    """Else every model that was registered before would be said to have changed."""
    for name in ("config.json", "model.safetensors", "merges.txt", "spiece.model", "chat_template.jinja"):
        (tmp_path / name).write_text(name)

    version = version_of("hf-causal", str(tmp_path), {"beams": 1})

    assert version == "d1c8ded34deed3c962cac5ba46f5faede7fe8fe9e62f83ea3dd5cf055c7b744e"
