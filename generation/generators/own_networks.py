"""The kinds `transformer` and `meed2`: networks of ours, from checkpoint folders that `train_generator` writes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from generation.decoding.settings import BEAM, DIVERSE_BEAM, DecodingSettings
from generation.generators.base import CheckpointRefused, Context, Reply, SettingsRefused
from generation.generators.devices import best_dtype
from generation.networks.checkpoint_files import CLASSIFIER, PREDICTOR, check_checkpoint
from generation.networks.config import MEED2, TRANSFORMER
from generation.networks.labels import LABEL_IDS, LABELS, NEUTRAL

if TYPE_CHECKING:
    from generation.decoding.beam import Hypothesis
    from generation.networks.batches import SourceBatch
    from generation.networks.checkpoint import Checkpoint
    from generation.networks.tokenizing import EncodedContext

CLASSIFIED_AT_ONCE = 64
UNREADABLE = "\ufffd"  # what bytes become that are not UTF-8


class TransformerGenerator:
    kind: ClassVar[str] = TRANSFORMER

    def __init__(self, checkpoint: "Checkpoint", settings: DecodingSettings) -> None:
        from generation.decoding.projection import Projection

        self.checkpoint = checkpoint
        self.settings = settings
        self.projection = Projection(checkpoint.network.output)

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        config = check_checkpoint(Path(checkpoint))
        if config.kind != cls.kind:
            raise CheckpointRefused(f"The checkpoint {checkpoint} is of kind {config.kind}, not {cls.kind}.")
        decoding = DecodingSettings.from_json(settings, config.max_tokens)
        if decoding.method in (BEAM, DIVERSE_BEAM) and 2 * decoding.beams > config.vocabulary_size:
            raise SettingsRefused(f"{decoding.beams} beams are too many for {config.vocabulary_size} tokens.")
        return decoding.as_json()

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        from generation.decoding.projection import pack_output
        from generation.networks.checkpoint import load_checkpoint, read_output_weight

        filled = cls.check(checkpoint, settings)
        loaded = load_checkpoint(Path(checkpoint), device)
        loaded.network.to(best_dtype(device))
        pack_output(loaded.network, read_output_weight(Path(checkpoint)))
        return cls(loaded, DecodingSettings(**filled))

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        import torch

        from generation.networks.batches import stack_contexts

        if not contexts:
            return []
        encoded = self._encode(contexts)
        with torch.inference_mode():
            source = stack_contexts(encoded, self._device)
            labels = self._choose_labels(contexts, source)
            found = self._decode(encoded, source, labels, seeds)
        return [
            self._reply(hypotheses, label, context.turns_cut)
            for hypotheses, label, context in zip(found, labels, encoded, strict=True)
        ]

    def score_gold(self, contexts: Sequence[Context], golds: Sequence[str]) -> list[tuple[float, int]]:
        """For perplexity: each gold's log-probability and how many tokens it has, in the label that is forced or, if
        none is, chosen."""
        import torch

        from generation.networks.batches import stack_contexts
        from generation.networks.gold_likelihood import AT_ONCE, score_golds

        encoded = self._encode(contexts)
        labels: list[str] = []
        with torch.inference_mode():
            for start in range(0, len(contexts), AT_ONCE):
                part = slice(start, start + AT_ONCE)
                labels += self._choose_labels(contexts[part], stack_contexts(encoded[part], self._device))
        return score_golds(self.checkpoint, encoded, labels, golds)

    @property
    def _device(self) -> Any:
        return self.checkpoint.network.device

    def _encode(self, contexts: Sequence[Context]) -> "list[EncodedContext]":
        from generation.networks.tokenizing import encode_context

        tokenizer, longest = self.checkpoint.tokenizer, self.checkpoint.config.max_tokens
        turn_labels = self._label_turns(contexts)
        return [
            encode_context(tokenizer, context.turns, labels, longest)
            for context, labels in zip(contexts, turn_labels, strict=True)
        ]

    def _label_turns(self, contexts: Sequence[Context]) -> Sequence[Sequence[str]]:
        return [()] * len(contexts)

    def _choose_labels(self, contexts: Sequence[Context], source: "SourceBatch") -> list[str]:
        return [""] * len(contexts)

    def _decode(
        self, encoded: "Sequence[EncodedContext]", source: "SourceBatch", labels: Sequence[str], seeds: Sequence[int]
    ) -> "list[list[Hypothesis]]":
        import torch

        from generation.decoding.beam import beam_search
        from generation.decoding.sampling import sample_replies

        network = self.checkpoint.network
        label_ids = [LABEL_IDS[label] for label in labels if label]
        state = network.begin_replies(
            source["source_ids"],
            source["source_segments"],
            torch.tensor([context.reply_segment for context in encoded], device=self._device),
            source["source_labels"] if label_ids else None,
            torch.tensor(label_ids, device=self._device) if label_ids else None,
        )
        if self.settings.method in (BEAM, DIVERSE_BEAM):
            return beam_search(network, self.projection, state, self.settings)
        return [[reply] for reply in sample_replies(network, self.projection, state, self.settings, seeds)]

    def _reply(self, hypotheses: "list[Hypothesis]", label: str, turns_cut: int) -> Reply:
        """The best that comes to an end. One that was cut at the longest length is no reply."""
        from generation.networks.tokenizing import decode_reply

        ended = next((hypothesis for hypothesis in hypotheses if hypothesis.is_ended), None)
        if ended is None:
            return Reply("", label, turns_cut=turns_cut, failure="endless")
        text = decode_reply(self.checkpoint.tokenizer, ended.tokens)
        failure = "empty" if not text else "not text" if UNREADABLE in text else ""
        return Reply("" if failure else text, label, ended.score, turns_cut, failure)


class Meed2Generator(TransformerGenerator):
    kind = MEED2
    OBEYS_LABELS = True

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        filled = super().check(checkpoint, settings)
        if not (Path(checkpoint) / PREDICTOR).exists():
            raise CheckpointRefused(
                f"The checkpoint {checkpoint} lacks {PREDICTOR}, which chooses the emotion or intent to reply in; "
                "train it with `train_generator meed2 --part predictor`."
            )
        return filled

    @classmethod
    def can_rank_emotions(cls, checkpoint: str) -> bool:
        return (Path(checkpoint) / CLASSIFIER).exists()

    def rank_emotions(self, contexts: Sequence[Context]) -> list[list[str]]:
        """What the emotion classifier makes of what speaker 1 said first, the likeliest label first."""
        if self.checkpoint.classifier is None:
            raise CheckpointRefused(f"The checkpoint has no {CLASSIFIER}, which ranks emotions.")
        ranked = []
        for start in range(0, len(contexts), CLASSIFIED_AT_ONCE):
            turns = [context.turns[0] for context in contexts[start : start + CLASSIFIED_AT_ONCE]]
            order = self.checkpoint.classifier.probabilities(turns).argsort(dim=1, descending=True).tolist()
            ranked += [[LABELS[number] for number in row] for row in order]
        return ranked

    def _label_turns(self, contexts: Sequence[Context]) -> Sequence[Sequence[str]]:
        """The dialog's own labels, else the emotion classifier's if the checkpoint has one, else neutral."""
        labels: list[Sequence[str]] = [
            context.turn_labels if _are_known(context) else [NEUTRAL] * len(context.turns) for context in contexts
        ]
        if self.checkpoint.classifier is not None:
            for place, context in enumerate(contexts):
                if not _are_known(context):
                    labels[place] = self.checkpoint.classifier.label(context.turns)
        return labels

    def _choose_labels(self, contexts: Sequence[Context], source: "SourceBatch") -> list[str]:
        assert self.checkpoint.predictor is not None
        predicted = self.checkpoint.predictor(**source).argmax(dim=1).tolist()
        return [_forced_label(context) or LABELS[number] for context, number in zip(contexts, predicted, strict=True)]


def _are_known(context: Context) -> bool:
    return len(context.turn_labels) == len(context.turns) and all(label in LABEL_IDS for label in context.turn_labels)


def _forced_label(context: Context) -> str:
    if context.forced_label and context.forced_label not in LABEL_IDS:
        raise SettingsRefused(f"No reply can have the label {context.forced_label!r}; it is none of the 41.")
    return context.forced_label
