"""What retrieval networks share: they choose the pool's best reply, and say how well any reply fits.

    score(context, reply) = h_x . h_y, of two encoders

The networks are in retrieval.py and retrieval_hf.py. Shapes: B contexts, R replies, T tokens, W width of a vector.
"""

import hashlib
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from generation.contexts import Context, Reply
from generation.errors import CheckpointRefused
from generation.networks.batches import stack
from generation.networks.checkpoint import Checkpoint
from generation.networks.family import Family
from generation.networks.labeller import LABELLER, Labeller, LabellerPart
from generation.networks.pool_vectors import best_replies, open_vectors
from generation.networks.reply_pool import Pool, PoolPart
from generation.networks.retrieval_texts import RetrievalConfig, RetrievalTexts

if TYPE_CHECKING:
    from generation.networks.family import Part
    from generation.training.objective import Objective
    from generation.training.plan import Plan, Say
    from generation.training.world import World

POOL, VECTORS = "pool", "vectors"
READ_AT_ONCE = 256


class Retriever(nn.Module):
    """Two encoders. `scale` multiplies scores before the softmax of training, where vectors have length 1."""

    config: RetrievalConfig
    scale: float = 1.0

    @abstractmethod
    def embed_contexts(self, ids: Tensor) -> Tensor:
        """[B, T] -> [B, W]"""

    @abstractmethod
    def embed_replies(self, ids: Tensor) -> Tensor: ...

    def forward(self, contexts: Tensor, replies: Tensor) -> Tensor:
        """[B, T], [R, T'] -> scores [B, R]"""
        scores: Tensor = self.embed_contexts(contexts) @ self.embed_replies(replies).T
        return self.scale * scores


class RetrieverAnswerer:
    def __init__(self, checkpoint: Checkpoint) -> None:
        self.network: Retriever = checkpoint.network
        self.texts = texts_of(checkpoint)
        self._pool: Pool = checkpoint.parts[POOL]
        self._vectors = checkpoint.parts[VECTORS]

    @torch.inference_mode()
    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        """Take the best reply, whatever the seed. One that was taken from the dialog itself does not count."""
        if not contexts:
            return []
        read = [self.texts.context(context.turns) for context in contexts]
        queries = embed_in_batches(self.network.embed_contexts, self.network, [ids for ids, _ in read])
        own = [self._pool.own_replies(context.turns) for context in contexts]
        scores, numbers = best_replies(queries, self._vectors, own)
        replies = []
        for score, number, (_, turns_cut) in zip(scores.tolist(), numbers.tolist(), read, strict=True):
            if score == -torch.inf:
                replies.append(Reply("", failure="the pool has replies of this dialog only", turns_cut=turns_cut))
                continue
            found = self._pool[number]
            replies.append(Reply(found.text, score=score, turns_cut=turns_cut, source=found.source))
        return replies

    def match_replies(self, contexts: Sequence[Context], replies: Sequence[str]) -> list[list[float]]:
        return match_replies(self.network, self.texts, contexts, replies)


class RetrieverFamily(Family):
    config_class = RetrievalConfig
    parts: ClassVar["dict[str, Part]"] = {POOL: PoolPart(), LABELLER: LabellerPart()}
    matches_replies = True

    @abstractmethod
    def begin(self, plan: "Plan", world: "World", labels: Sequence[str]) -> Checkpoint:
        """Return the network from which training starts, with its tokenizer, which knows the labels as words."""

    def take(self, name: str, place: str) -> Labeller:
        from generation.networks.labeller_training import load_labeller

        return load_labeller(place)

    def prepare(self, part: str, plan: "Plan", world: "World", say: "Say") -> "Objective":
        from generation.networks.retrieval_training import prepare_retriever

        return prepare_retriever(self, plan, world, say)

    def make_fast(self, checkpoint: Checkpoint, folder: Path) -> None:
        if POOL not in checkpoint.parts:
            raise CheckpointRefused(f"The checkpoint {folder} has no replies to choose from; `make_pool` puts them in.")
        pool, texts, network = checkpoint.parts[POOL], texts_of(checkpoint), checkpoint.network

        def embed(replies: Sequence[str]) -> Tensor:
            return embed_in_batches(network.embed_replies, network, [texts.reply(text) for text in replies])

        width = embed(["?"]).shape[1]
        fingerprint = _fingerprint(network, pool, texts.labeller)
        checkpoint.parts[VECTORS] = open_vectors(folder, fingerprint, pool.texts, len(pool), width, embed)

    def answerer(self, checkpoint: Checkpoint, settings: dict[str, Any]) -> RetrieverAnswerer:
        return RetrieverAnswerer(checkpoint)


@torch.inference_mode()
def match_replies(
    network: Retriever, texts: RetrievalTexts, contexts: Sequence[Context], replies: Sequence[str]
) -> list[list[float]]:
    """Return the score of each reply for each context."""
    queries = embed_in_batches(network.embed_contexts, network, [texts.context(one.turns)[0] for one in contexts])
    found = embed_in_batches(network.embed_replies, network, [texts.reply(text) for text in replies])
    scores: list[list[float]] = (queries @ found.T).tolist()
    return scores


def texts_of(checkpoint: Checkpoint) -> RetrievalTexts:
    return RetrievalTexts(checkpoint.tokenizer, checkpoint.network.config, checkpoint.parts.get(LABELLER))


@torch.inference_mode()
def embed_in_batches(embed: Any, network: Retriever, texts: Sequence[list[int]]) -> Tensor:
    device = next(network.parameters()).device
    parts = [texts[start : start + READ_AT_ONCE] for start in range(0, len(texts), READ_AT_ONCE)]
    return torch.cat([embed(stack(part, network.config.pad, device)).float() for part in parts])


def _fingerprint(network: nn.Module, pool: Pool, labeller: Labeller | None) -> str:
    """Return a hash of everything that decides the vectors of the pool's replies."""
    digest = hashlib.sha256(f"{pool.digest()} {labeller.digest() if labeller else ''}".encode())
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tensor.device.type}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:32]
