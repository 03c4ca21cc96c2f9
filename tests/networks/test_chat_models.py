"""Local chat models: their perplexity, ended as their template ends a turn, and their thoughts, kept apart."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from generation.contexts import Context
from generation.generators.hugging_face import CausalGenerator

MARKS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>"]
# Others', which come after those so that these keep their numbers.
MORE_MARKS = [*"<eos> <start_of_turn> <end_of_turn> <|channel> <channel|>".split()]
MORE_MARKS += [*"<|start|> <|channel|> <|message|> <|end|> <|return|>".split()]
WORDS = "user assistant system model thought analysis final hi hello how are you i am fine so sad to hear that".split()
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# As Qwen3's: a turn that was answered carries empty thoughts, which a prompt does not.
WITH_EMPTY_THOUGHTS = CHATML.replace(
    "{{ m.content }}",
    "{% if loop.last and m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}{{ m.content }}",
)
# As DeepSeek's: it opens the thoughts itself, and takes those of earlier turns out.
OPENING_THOUGHTS = CHATML.replace("<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think>\n{% endif %}")
WITHOUT_AN_END = "{% for m in messages %}{{ m.role }} {{ m.content }}\n{% endfor %}"
# As Gemma's: a turn ends with a mark of its own, which is not the end of a sequence.
GEMMA = (
    "{% for m in messages %}<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{{ m.content }}<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
# As gpt-oss', with the thoughts opened.
HARMONY = (
    "{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant<|channel|>analysis<|message|>\n{% endif %}"
)
GEMMA_READ = (
    "<start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n{}<end_of_turn>\n"
    "<start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n"
)
CONTEXT, GOLD = Context(("hi how are you", "i am fine", "so sad")), "sad to hear that"


def make_model(
    folder: Path,
    template: str | None,
    ends: int | list[int],
    next_word: dict[str, str] | None = None,
    eos_token: str = "<|im_end|>",
) -> Any:
    """A random network; or, with `next_word`, one that says one word after the other, as if by heart."""
    import torch
    import transformers

    torch.manual_seed(5)
    tokenizer = _tokenizer(template, eos_token)
    size = len(tokenizer)
    config = transformers.GPT2Config(
        vocab_size=size, n_positions=128, n_embd=size + size % 2, n_layer=1, n_head=1, eos_token_id=ends, bos_token_id=0
    )
    config.tie_word_embeddings = False
    model = transformers.GPT2LMHeadModel(config)
    if next_word is not None:
        _learn_by_heart(model, tokenizer, next_word)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    settings = json.loads((folder / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(json.dumps({**settings, "eos_token_id": ends}))
    checked = CausalGenerator.check(str(folder), {"max_new_tokens": 24})
    return CausalGenerator.load(str(folder), checked, "cpu")


def _tokenizer(template: str | None, eos_token: str) -> Any:
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    words = ["<unk>", *MARKS, *MORE_MARKS, "\n", *WORDS]
    found = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    found.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(" ", "removed"), pre_tokenizers.Split("\n", "isolated")]
    )
    found.decoder = decoders.Sequence([])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=found,
        chat_template=template,
        eos_token=eos_token,
        pad_token="<|endoftext|>",
        unk_token="<unk>",
        additional_special_tokens=[mark for mark in [*MARKS, *MORE_MARKS] if mark not in (eos_token, "<|endoftext|>")],
    )


def _learn_by_heart(model: Any, tokenizer: Any, next_word: dict[str, str]) -> None:
    """Each word's embedding is a direction of its own, attention adds nothing, and the output turns it to the next."""
    import torch

    with torch.no_grad():
        for parameter in model.transformer.h.parameters():
            parameter.zero_()
        size = model.transformer.wte.weight.shape
        model.transformer.wte.weight.copy_(torch.eye(*size))
        model.transformer.wpe.weight.zero_()
        model.lm_head.weight.zero_()
        for word, following in next_word.items():
            ids = [tokenizer.convert_tokens_to_ids(one) for one in (following, word)]
            model.lm_head.weight[ids[0], ids[1]] = 1.0


def loss_by_hand(generator: Any, read: str, scored: str) -> tuple[float, int]:
    """Hugging Face's own loss of some text after some other."""
    import torch

    read_ids, scored_ids = (
        generator._tokenizer(text, add_special_tokens=False)["input_ids"] for text in (read, scored)
    )
    labels = torch.tensor([[-100] * len(read_ids) + scored_ids])
    with torch.inference_mode():
        loss = generator._model(input_ids=torch.tensor([read_ids + scored_ids]), labels=labels).loss
    return -float(loss) * len(scored_ids), len(scored_ids)


def turns_of(*turns: str) -> str:
    roles = ["user", "assistant", "user"]
    return "".join(f"<|im_start|>{role}\n{turn}<|im_end|>\n" for role, turn in zip(roles, turns, strict=True))


END, OTHER = 2, 3  # <|im_end|> and <|endoftext|>


@pytest.mark.parametrize("ends", [END, [END, OTHER], [OTHER, END]], ids=str)
@pytest.mark.parametrize(
    ("template", "before"),
    [
        (CHATML, "<|im_start|>assistant\n"),
        (WITH_EMPTY_THOUGHTS, "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
        (OPENING_THOUGHTS, "<|im_start|>assistant\n"),
    ],
    ids=["plain", "empty thoughts", "opened thoughts"],
)
def test_a_gold_ends_as_the_template_ends_a_turn_whatever_the_order_of_eos_token_id(
    tmp_path: Path, ends: int | list[int], template: str, before: str
) -> None:
    generator = make_model(tmp_path, template, ends)

    [(total, tokens)] = generator.score_gold([CONTEXT], [f" {GOLD} "])

    expected, count = loss_by_hand(generator, turns_of(*CONTEXT.turns) + before, f"{GOLD}<|im_end|>")
    assert tokens == count == 5  # four words and the end; not the line break behind it
    assert total == pytest.approx(expected, rel=1e-5)


EOS, END_OF_TURN = 6, 8


@pytest.mark.parametrize("ends", [[EOS, END_OF_TURN], [END_OF_TURN, EOS], EOS, END_OF_TURN], ids=str)
def test_a_turns_end_that_is_not_the_sequences_ends_the_gold_whatever_the_order_of_eos_token_id(
    tmp_path: Path, ends: int | list[int]
) -> None:
    generator = make_model(tmp_path, GEMMA, ends, eos_token="<eos>")
    read = GEMMA_READ.format(*CONTEXT.turns)

    [found] = generator.score_gold([CONTEXT], [GOLD])

    assert found == pytest.approx(loss_by_hand(generator, read, f"{GOLD}<end_of_turn>"), rel=1e-5)
    assert found != pytest.approx(loss_by_hand(generator, read, f"{GOLD}<eos>"), rel=1e-3)


def test_without_an_end_in_the_template_the_tokenizers_own_ends_the_gold(tmp_path: Path) -> None:
    found = []
    for name, ends in (("first", [END, OTHER]), ("last", [OTHER, END])):
        generator = make_model(tmp_path / name, WITHOUT_AN_END, ends)
        found += generator.score_gold([CONTEXT], [GOLD])

    read = "".join(f"{role} {turn}\n" for role, turn in zip(["user", "assistant", "user"], CONTEXT.turns, strict=True))
    expected = loss_by_hand(generator, f"{read}assistant ", f"{GOLD}<|im_end|>")
    assert found[0] == found[1] == pytest.approx(expected, rel=1e-5)


def test_without_a_template_the_order_of_eos_token_id_plays_no_part_either(tmp_path: Path) -> None:
    found = []
    for name, ends in (("first", [END, OTHER]), ("last", [OTHER, END])):
        generator = make_model(tmp_path / name, None, ends)
        found += generator.score_gold([CONTEXT], [GOLD])

    read = "".join(f"{turn}<|im_end|>" for turn in CONTEXT.turns)
    expected = loss_by_hand(generator, read, f"{GOLD}<|im_end|>")
    assert found[0] == found[1] == pytest.approx(expected, rel=1e-5)


def test_a_gold_of_letters_that_stand_in_the_marks_is_found_where_it_is(tmp_path: Path) -> None:
    generator = make_model(tmp_path, CHATML, [OTHER, END])

    [(total, tokens)] = generator.score_gold([CONTEXT], ["i"])

    expected = loss_by_hand(generator, f"{turns_of(*CONTEXT.turns)}<|im_start|>assistant\n", "i<|im_end|>")
    assert (total, tokens) == pytest.approx(expected, rel=1e-5)


SAYING = {"\n": "<think>", "<think>": "sad", "sad": "</think>", "</think>": "hello", "hello": "<|im_end|>"}


def test_a_local_models_thoughts_are_kept_apart_though_their_marks_are_special_tokens(tmp_path: Path) -> None:
    generator = make_model(tmp_path, CHATML, [OTHER, END], SAYING)

    [reply] = generator.answer([Context(("hi",))], [1])

    assert (reply.text, reply.thoughts, reply.failure) == ("hello", "sad", "")


def test_thoughts_that_the_template_opens_are_thoughts(tmp_path: Path) -> None:
    thinking = {"\n": "sad", "sad": "</think>", "</think>": "hello", "hello": "<|im_end|>"}
    generator = make_model(tmp_path / "closing", OPENING_THOUGHTS, END, thinking)
    endless = make_model(tmp_path / "ending", OPENING_THOUGHTS, END, {"\n": "sad", "sad": "<|im_end|>"})

    [reply], [nothing] = (model.answer([Context(("hi",))], [1]) for model in (generator, endless))

    assert (reply.text, reply.thoughts) == ("hello", "sad")
    assert (nothing.text, nothing.thoughts, nothing.failure) == ("", "sad", "nothing but thoughts")


def test_a_model_that_never_stops_thinking_says_so(tmp_path: Path) -> None:
    generator = make_model(tmp_path, CHATML, END, {"\n": "<think>", "<think>": "sad", "sad": "sad"})

    [reply] = generator.answer([Context(("hi",))], [1])

    assert (reply.text, reply.failure) == ("", "endless: it was still thinking")


def words_in_a_row(text: str) -> dict[str, str]:
    words = text.split(" ")
    return dict(pairwise(words))


@pytest.mark.parametrize(
    ("template", "saying", "end"),
    [
        (GEMMA, "\n <|channel> thought sad <channel|> hello <end_of_turn>", END_OF_TURN),
        (HARMONY, "\n sad <|end|> <|start|> assistant <|channel|> final <|message|> hello <|return|>", 15),
        (CHATML, "\n sad <channel|> hello <|im_end|>", END),
    ],
    ids=["Gemma's", "gpt-oss', opened by the template", "only closed"],
)
def test_channels_whose_marks_are_special_tokens_are_seen_before_those_are_dropped(
    tmp_path: Path, template: str, saying: str, end: int
) -> None:
    generator = make_model(tmp_path, template, end, words_in_a_row(saying))

    [reply] = generator.answer([Context(("hi",))], [1])

    assert (reply.text, reply.thoughts, reply.failure) == ("hello", "sad", "")


@pytest.mark.parametrize(
    ("template", "saying", "end"),
    [
        (GEMMA, "\n <|channel> thought sad <end_of_turn>", END_OF_TURN),
        (HARMONY, "\n sad <|return|>", 15),
        (CHATML, "\n <|channel|> analysis <|im_end|>", END),
    ],
)
def test_channels_of_nothing_but_thoughts_are_a_failure(tmp_path: Path, template: str, saying: str, end: int) -> None:
    generator = make_model(tmp_path, template, end, words_in_a_row(saying))

    [reply] = generator.answer([Context(("hi",))], [1])

    assert reply.text == ""
    assert reply.failure
