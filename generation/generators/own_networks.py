"""Let our own networks answer: each family of networks/families.py is a kind. `train_generator` writes checkpoints."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from generation.contexts import Context, Reply
from generation.devices import best_dtype
from generation.errors import CheckpointRefused
from generation.networks.checkpoint_files import check_checkpoint
from generation.networks.families import FAMILIES, check_family_settings, load_family

if TYPE_CHECKING:
    from generation.networks.family import Answerer


class NetworkGenerator:
    family: ClassVar[str]
    OBEYED_LABELS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, answerer: "Answerer") -> None:
        self.answerer: Any = answerer  # it may have the other methods of this class, too

    @classmethod
    def of_family(cls, name: str) -> type["NetworkGenerator"]:
        line = FAMILIES[name]
        obeyed = line.labels if line.is_told_labels else ()
        return type(f"{name} {cls.__name__}", (cls,), {"family": name, "OBEYED_LABELS": obeyed})

    @classmethod
    def check(cls, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
        config = check_checkpoint(Path(checkpoint))
        if config["kind"] != cls.family:
            raise CheckpointRefused(f"The checkpoint {checkpoint} is of kind {config['kind']}, not {cls.family}.")
        filled = check_family_settings(cls.family, settings, config["max_tokens"], config["vocabulary_size"])
        line = FAMILIES[cls.family]
        for part, purpose in list(line.parts.items())[1:]:
            if part not in line.parts_to_spare and not (Path(checkpoint) / f"{part}.safetensors").exists():
                raise CheckpointRefused(
                    f"The checkpoint {checkpoint} lacks {part}.safetensors, {purpose}; train it with "
                    f"`train_generator {cls.family} --part {part}`."
                )
        return filled

    @classmethod
    def load(cls, checkpoint: str, settings: dict[str, Any], device: str) -> Self:
        from generation.networks.checkpoint import load_checkpoint

        filled, folder, family = cls.check(checkpoint, settings), Path(checkpoint), load_family(cls.family)
        loaded = load_checkpoint(folder, device)
        loaded.network.to(best_dtype(device))
        family.make_fast(loaded, folder)
        return cls(family.answerer(loaded, filled))

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        return list(self.answerer.answer(contexts, seeds))

    @classmethod
    def can_score_gold(cls, checkpoint: str) -> bool:
        return load_family(cls.family).has_likelihood

    def score_gold(self, contexts: Sequence[Context], golds: Sequence[str]) -> list[tuple[float, int]]:
        return list(self.answerer.score_gold(contexts, golds))

    @classmethod
    def can_match_replies(cls, checkpoint: str) -> bool:
        return load_family(cls.family).matches_replies

    def match_replies(self, contexts: Sequence[Context], replies: Sequence[str]) -> list[list[float]]:
        """Return a score of each reply for each context, the higher the better."""
        found: list[list[float]] = self.answerer.match_replies(contexts, replies)
        return found

    @classmethod
    def can_score_gold_told_polarity(cls, checkpoint: str) -> bool:
        return load_family(cls.family).is_told_polarity

    def score_gold_told_polarity(self, contexts: Sequence[Context], golds: Sequence[str]) -> list[tuple[float, int]]:
        return list(self.answerer.score_gold_told_polarity(contexts, golds))

    @classmethod
    def can_rank_emotions(cls, checkpoint: str) -> bool:
        return load_family(cls.family).can_rank_emotions(Path(checkpoint))

    def rank_emotions(self, contexts: Sequence[Context]) -> list[list[str]]:
        return list(self.answerer.rank_emotions(contexts))
