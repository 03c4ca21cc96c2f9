"""`hf-seq2seq` and `hf-causal`: let any Hugging Face model answer, from a local folder or by its name on the hub.

Weights must be safetensors, and a checkpoint's own code never runs. Only the generator's settings decide a reply: a
checkpoint's own defaults for generation (temperatures, penalties) are ignored.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from generation.checkpoint_version import check_weights, read_config
from generation.contexts import Context, Reply
from generation.devices import best_dtype, is_out_of_memory
from generation.errors import CheckpointRefused, SettingsRefused, first_line
from generation.generators.chat_templates import ChatTemplate
from generation.generators.kinds import Settings, checked_settings
from generation.thoughts import NOTHING_BUT_THOUGHTS, has_marks, is_open_thought, split_thoughts

if TYPE_CHECKING:
    from generation.generators.token_picking import PickTokens, WithinReply

MOST_TOKENS_UNLESS_SAID = 512
MOST_TOKENS_OF_A_MARK = 16
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


class HuggingFaceSettings(Settings):
    revision: str = "main"  # of a model on the hub
    max_new_tokens: int = Field(80, ge=1, le=4096)
    max_context_tokens: int = Field(0, ge=0)  # 0: as many as the model can read
    beams: int = Field(1, ge=1, le=64)
    length_penalty: float = 1.0
    no_repeat_ngram: int = Field(0, ge=0)
    temperature: float = Field(0.0, ge=0)  # 0: always take the most likely token; else tokens are drawn at random
    top_k: int = Field(0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    turn_separator: str = ""  # between turns if there is no chat template; "" stands for the model's end token
    system: str = ""  # what a chat template's system message says
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"

    @model_validator(mode="after")
    def _check_search_or_draw(self) -> Self:
        if self.beams > 1 and self.temperature > 0:
            raise ValueError("tokens are either searched with beams or drawn at a temperature")
        return self


class _HuggingFaceGenerator:
    model_class: ClassVar[str]
    is_encoder_decoder: ClassVar[bool]

    def __init__(self, model: Any, tokenizer: Any, settings: dict[str, Any], device: str) -> None:
        self._model, self._tokenizer, self._settings, self._device = model, tokenizer, settings, device
        ends = model.generation_config.eos_token_id
        self._ends: list[int] = ends if isinstance(ends, list) else [] if ends is None else [ends]
        if not self._ends:
            raise CheckpointRefused("The checkpoint names no token that ends a reply (eos_token_id).")
        # This token ends a gold if no template does. Don't take the first of the list: its order means nothing.
        self._end: int = tokenizer.eos_token_id if tokenizer.eos_token_id in self._ends else min(self._ends)
        self._pad: int = self._end if tokenizer.pad_token_id is None else tokenizer.pad_token_id
        has_chat = bool(tokenizer.chat_template) and not self.is_encoder_decoder
        self._chat = ChatTemplate(tokenizer, settings["system"], self._ends, self._end) if has_chat else None
        self._limit = self._find_context_limit()
        self._ignore_checkpoint_defaults()

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        if Path(checkpoint).is_dir():
            config = read_config(Path(checkpoint))
            if bool(config.get("is_encoder_decoder")) != cls.is_encoder_decoder:
                kind = "hf-causal" if cls.is_encoder_decoder else "hf-seq2seq"
                raise CheckpointRefused(f"{checkpoint} is not a model of this kind: its kind is {kind}.")
            check_weights(Path(checkpoint))
        elif not _HUB_NAME.fullmatch(checkpoint):
            raise CheckpointRefused(f"{checkpoint!r} is neither a folder nor a name on the hub.")
        return checked_settings(HuggingFaceSettings, settings)

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        import torch
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        dtype = best_dtype(device) if settings["dtype"] == "auto" else getattr(torch, settings["dtype"])
        common = {"revision": settings["revision"], "trust_remote_code": False}
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint, **common)
            model, found = getattr(transformers, cls.model_class).from_pretrained(
                checkpoint, **common, dtype=dtype, use_safetensors=True, output_loading_info=True
            )
        except Exception as error:  # the libraries raise errors of any class
            if is_out_of_memory(error):
                raise
            raise CheckpointRefused(f"{checkpoint} can't be loaded: {first_line(error)}") from error
        if missing := sorted(found["missing_keys"]):
            raise CheckpointRefused(f"{checkpoint} is not complete: its weights lack {missing[0]}.")
        return cls(model.to(device).eval(), tokenizer, settings, device)

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        import torch

        encoded = [self._encode(context.turns) for context in contexts]
        ids, mask = self._pad_rows([ids for ids, _ in encoded])
        start = 1 if self.is_encoder_decoder else ids.shape[1]
        picker = self._make_picker(seeds)
        with torch.inference_mode():
            output = self._model.generate(
                input_ids=ids,
                attention_mask=mask,
                logits_processor=[*self._make_blockers(start), *([picker] if picker else [])],
                return_dict_in_generate=True,
                output_scores=picker is None,
            )
        rows = [row[start:].tolist() for row in output.sequences]
        scores = output.sequences_scores.tolist() if picker is None else picker.mean_scores(rows, self._ends)
        return [
            self._make_reply(row, score, cut, read)
            for row, score, (read, cut) in zip(rows, scores, encoded, strict=True)
        ]

    def score_gold(self, contexts: Sequence[Context], golds: Sequence[str]) -> list[tuple[float, int]]:
        """Return each gold's log-probability and number of tokens, for perplexity. Golds are scored one by one, so that
        there is no padding. A gold that is longer than a reply may be is cut."""
        import torch

        most = self._settings["max_new_tokens"]
        scored = []
        with torch.inference_mode():
            for context, gold in zip(contexts, golds, strict=True):
                read, ids = self._encode_gold(context.turns, gold)
                ids = ids[:most]
                logits = self._compute_logits(read, ids)
                chosen = logits.float().log_softmax(dim=-1)[range(len(ids)), ids]
                scored.append((float(chosen.sum()), len(ids)))
        return scored

    def _encode_gold(self, turns: Sequence[str], gold: str) -> tuple[list[int], list[int]]:
        """Return the tokens that are read, and those that are scored: the gold's, with the one that ends it."""
        if self._chat is None:
            gold_ids = self._tokenizer(gold, add_special_tokens=False)["input_ids"]
            return self._encode(turns)[0], [*gold_ids, self._end]
        for cut in range(len(turns)):
            read, scored = self._chat.encode_gold(turns[cut:], gold)
            if len(read) <= self._limit:
                break
        return read[-self._limit :], scored

    def _compute_logits(self, context: list[int], reply: list[int]) -> Any:
        """Return logits [tokens of the reply, vocabulary]. Each row predicts its token."""
        import torch

        if not self.is_encoder_decoder:
            ids = torch.tensor([context + reply[:-1]], device=self._device)
            return self._model(input_ids=ids).logits[0, len(context) - 1 :]
        # The first tokens of a reply are given, not chosen, so they are not scored: BART's <s>, for instance.
        given = [self._model.config.decoder_start_token_id]
        given += [id for id in self._tokenizer("a")["input_ids"][:1] if id == self._tokenizer.bos_token_id]
        read = torch.tensor([given + reply[:-1]], device=self._device)
        source = torch.tensor([context], device=self._device)
        return self._model(input_ids=source, decoder_input_ids=read).logits[0, len(given) - 1 :]

    # --- From turns to tokens ---

    def _encode(self, turns: Sequence[str]) -> tuple[list[int], int]:
        """Return the tokens of as many of the newest turns as fit, and how many turns were cut."""
        for cut in range(len(turns)):
            ids = self._encode_turns(turns[cut:])
            if len(ids) <= self._limit:
                return ids, cut
        # Not even the newest turn fits. Take its end, because that is what the reply should answer.
        end = ids[-self._limit :] if not self.is_encoder_decoder else [ids[0], *ids[len(ids) - self._limit + 1 :]]
        return end, len(turns)

    def _encode_turns(self, turns: Sequence[str]) -> list[int]:
        tokenizer = self._tokenizer
        if self._chat is not None:
            ids: list[int] = tokenizer(self._chat.write(turns), add_special_tokens=False)["input_ids"]
            return ids
        separator = self._settings["turn_separator"] or tokenizer.eos_token or "\n"
        text = separator.join(turns)
        ids = tokenizer(text if self.is_encoder_decoder else text + separator)["input_ids"]
        return ids

    def _pad_rows(self, rows: list[list[int]]) -> tuple[Any, Any]:
        """Return ids and mask, [batch, longest]. Padding is on the left for a causal model, so that the next token
        directly follows the context."""
        import torch

        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self._pad)
        mask = torch.zeros((len(rows), longest), dtype=torch.long)
        for number, row in enumerate(rows):
            place = slice(0, len(row)) if self.is_encoder_decoder else slice(longest - len(row), longest)
            ids[number, place], mask[number, place] = torch.tensor(row), 1
        return ids.to(self._device), mask.to(self._device)

    # --- From tokens to a reply ---

    def _make_reply(self, row: list[int], score: float, turns_cut: int, read: list[int]) -> Reply:
        length = next((position for position, id in enumerate(row) if id in self._ends), len(row))
        reply = self._decode_reply(row[:length], read)
        if length == len(row):
            failure = "endless: it was still thinking" if reply.failure == NOTHING_BUT_THOUGHTS else "endless"
            return Reply("", score=score, turns_cut=turns_cut, failure=failure, thoughts=reply.thoughts)
        return replace(reply, score=score, turns_cut=turns_cut)

    def _decode_reply(self, row: list[int], read: list[int]) -> Reply:
        """Decode a reply and separate its thoughts. Marks of thinking may be special tokens, so they are looked for
        before special tokens are left out."""
        whole = self._tokenizer.decode(row, skip_special_tokens=False)
        tail = self._tokenizer.decode(read[-MOST_TOKENS_OF_A_MARK:], skip_special_tokens=False)
        begins_in_thought = self._chat is not None and is_open_thought(tail)
        if not begins_in_thought and not has_marks(whole):
            text = self._tokenizer.decode(row, skip_special_tokens=True).strip()
            return Reply(text, failure="" if text else "empty")
        said, thoughts = split_thoughts(whole, begins_in_thought)
        for special in self._tokenizer.all_special_tokens:
            said = said.replace(special, "")
        text = said.strip()
        return Reply(text, failure="" if text else NOTHING_BUT_THOUGHTS if thoughts else "empty", thoughts=thoughts)

    # --- Settings ---

    def _make_picker(self, seeds: Sequence[int]) -> "PickTokens | None":
        from generation.generators.token_picking import PickTokens

        if self._settings["beams"] > 1:
            return None
        settings = self._settings
        return PickTokens(seeds, settings["temperature"], settings["top_k"], settings["top_p"])

    def _make_blockers(self, start: int) -> "list[WithinReply]":
        from transformers import NoRepeatNGramLogitsProcessor

        from generation.generators.token_picking import WithinReply

        size = self._settings["no_repeat_ngram"]
        return [WithinReply(NoRepeatNGramLogitsProcessor(size), start)] if size else []

    def _ignore_checkpoint_defaults(self) -> None:
        from transformers import GenerationConfig

        theirs, settings = self._model.generation_config, self._settings
        self._model.generation_config = GenerationConfig(
            bos_token_id=theirs.bos_token_id,
            eos_token_id=self._ends,
            pad_token_id=self._pad,
            decoder_start_token_id=theirs.decoder_start_token_id,
            forced_bos_token_id=theirs.forced_bos_token_id,
            max_new_tokens=settings["max_new_tokens"],
            num_beams=settings["beams"],
            length_penalty=settings["length_penalty"],
            do_sample=False,
        )

    def _find_context_limit(self) -> int:
        names = ("max_position_embeddings", "n_positions", "max_source_positions")
        said = [getattr(self._model.config, name, None) for name in names]
        known = [limit for limit in (*said, self._tokenizer.model_max_length) if limit and limit < 10**9]
        limit = min(known, default=MOST_TOKENS_UNLESS_SAID)
        left: int = limit if self.is_encoder_decoder else limit - self._settings["max_new_tokens"]
        if left < 2:
            raise SettingsRefused(f"max_new_tokens leaves no room for a context: the model takes {limit} tokens.")
        return min(left, self._settings["max_context_tokens"] or left)


class Seq2SeqGenerator(_HuggingFaceGenerator):
    model_class = "AutoModelForSeq2SeqLM"
    is_encoder_decoder = True


class CausalGenerator(_HuggingFaceGenerator):
    model_class = "AutoModelForCausalLM"
    is_encoder_decoder = False
