"""Write a conversation with a model's chat template: to be answered, or with the human reply as the model's turn."""

from collections.abc import Sequence
from typing import Any

_PLACE_OF_THE_GOLD = "@@ the gold @@"


class ChatTemplate:
    def __init__(self, tokenizer: Any, system: str, ends: Sequence[int], end: int) -> None:
        """`ends` are the tokens at which the model stops. `end` is put after a gold if the template does not end it."""
        self._tokenizer, self._system, self._ends, self._end = tokenizer, system, set(ends), end

    def write(self, turns: Sequence[str], is_answered: bool = False) -> str:
        """Return the text up to the place where the model's reply begins or, if the conversation is answered, with the
        model's turn."""
        from jinja2 import TemplateError

        # The model answers the last turn, so that one is the user's, and the others alternate before it.
        indexes = range(len(turns))
        roles = ["user" if (len(turns) - is_answered - index) % 2 else "assistant" for index in indexes]
        messages = [{"role": role, "content": text} for role, text in zip(roles, turns, strict=True)]
        system = [{"role": "system", "content": self._system}] if self._system else []
        try:
            return self._apply(system + messages, is_answered)
        except TemplateError:  # this model's template insists that the user begins
            return self._apply([*system, {"role": "user", "content": ""}, *messages], is_answered)

    def encode_gold(self, turns: Sequence[str], gold: str) -> tuple[list[int], list[int]]:
        """Return the tokens that are read, and those that are scored: the gold's, and the one that ends a turn.

        Whatever the template writes after that (mostly a line break) is not scored, since models don't write it.
        """
        before, _, behind = self.write([*turns, _PLACE_OF_THE_GOLD], is_answered=True).rpartition(_PLACE_OF_THE_GOLD)
        gold = gold.strip()
        if self.write([*turns, gold], is_answered=True) != before + gold + behind:
            # The template rewrites the reply, or leaves it out. So read the prompt as for answering, and end the gold
            # ourselves.
            return self._ids(self.write(turns)), [*self._ids(gold), self._end]
        read, said, tail = self._ids_of_parts(before, gold, behind)
        stops = [index for index, id in enumerate(tail) if id in self._ends]
        marks = [index for index, id in enumerate(tail) if id in self._tokenizer.all_special_ids]
        end_at = (stops or marks)[:1]
        return read, said + (tail[: end_at[0] + 1] if end_at else [self._end])

    def _ids_of_parts(self, before: str, gold: str, behind: str) -> tuple[list[int], list[int], list[int]]:
        """Encode the whole text, as the model would read it. A token across the border belongs to the gold."""
        if not self._tokenizer.is_fast:  # a slow tokenizer does not tell where in the text its tokens are
            return self._ids(before), self._ids(gold), self._ids(behind)
        encoded = self._tokenizer(before + gold + behind, add_special_tokens=False, return_offsets_mapping=True)
        ids: list[int] = encoded["input_ids"]
        spans: list[tuple[int, int]] = encoded["offset_mapping"]
        start, end = len(before), len(before) + len(gold)
        first = next(index for index, (_, stop) in enumerate(spans) if stop > start)
        after = next((index for index, (begin, _) in enumerate(spans) if begin >= end), len(ids))
        return ids[:first], ids[first:after], ids[after:]

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def _apply(self, messages: list[dict[str, str]], is_answered: bool) -> str:
        text: str = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=not is_answered)
        return text
