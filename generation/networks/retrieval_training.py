"""Train a retrieval network: among the replies of a batch, each context has to find its own.

    loss = -log softmax over the batch's replies y of score(x, y), at the reply that followed x

Batches are shuffled and not sorted by length, because the other replies of a batch are the wrong answers. The optimiser
is Adamax.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from evalplatform.wording import count_of
from generation.errors import DataRefused, TrainingRefused
from generation.networks.checkpoint import save_checkpoint
from generation.networks.labeller import LABELLER
from generation.networks.pair_examples import pad_rows
from generation.networks.pool_making import named_dialogs
from generation.networks.preparing import describe_tokenizer, put_parts_in, taken_parts
from generation.networks.reply_pool import POOL_FILE, Pool, make_pool
from generation.networks.retrieval_texts import RetrievalTexts
from generation.networks.retriever import POOL, RetrieverFamily, texts_of
from generation.training.context_pairs import Pair, Source, pairs_of
from generation.training.objective import MAIN, Batch, Objective, Scored, score_labels
from generation.training.options import TrainingSettings
from generation.training.ordering import Indices
from generation.training.plan import Plan, Say
from generation.training.state import STATE
from generation.training.world import World


class RetrievalExamples:
    """Contexts and replies as ids, in flat arrays. `shuffled` are those for validation: in the order of a file, the
    wrong answers would often be of the same dialog."""

    def __init__(self, pairs: Iterable[Pair], texts: RetrievalTexts, shuffled: bool) -> None:
        contexts, replies = [], []
        for pair in pairs:
            contexts.append(np.array(texts.context(pair.turns)[0], dtype=np.int32))
            replies.append(np.array(texts.reply(pair.reply), dtype=np.int32))
        if not replies:
            raise DataRefused("no conversation in it has two turns.")
        self._pad = texts.config.pad
        self._contexts, self._context_ends = _flatten(contexts)
        self._replies, self._reply_ends = _flatten(replies)
        self.target_counts: npt.NDArray[np.int64] = np.ones(len(replies), dtype=np.int64)
        order = np.random.default_rng(0).permutation(len(replies))
        self.sort_keys: npt.NDArray[np.int64] = order if shuffled else np.zeros(len(replies), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.target_counts)

    def batch(self, indices: Indices, device: torch.device) -> Batch:
        tensors = {
            "contexts": pad_rows(self._contexts, self._context_ends, indices, self._pad),
            "replies": pad_rows(self._replies, self._reply_ends, indices, self._pad),
        }
        return {name: torch.from_numpy(ids).to(device) for name, ids in tensors.items()}

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for values in (self._contexts, self._context_ends, self._replies):
            digest.update(values.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class RetrievalObjective(Objective):
    def optimisers(self, settings: TrainingSettings) -> dict[str, torch.optim.Optimizer]:
        if settings.accumulate > 1:
            raise TrainingRefused("The wrong answers are those of the whole batch; leave --accumulate out.")
        return {MAIN: torch.optim.Adamax(self.network.parameters(), lr=settings.learning_rate)}


def prepare_retriever(family: RetrieverFamily, plan: Plan, world: World, say: Say) -> Objective:
    if world.size > 1:
        raise TrainingRefused(
            f"A {plan.kind} is trained by one process: its wrong answers are those of the whole batch."
        )
    taken = taken_parts(family, plan)
    labeller = taken.get(LABELLER)
    start = family.begin(plan, world, labeller.labels if labeller else ())
    start.parts |= taken
    texts = texts_of(start)
    training = _examples("training", plan.data.training, pairs_of(plan.data.training_records()), texts, say)
    of_validation = plan.data.validation or plan.data.training
    validation = _examples("validation", of_validation, pairs_of(plan.data.validation_records()), texts, say)
    pool = _stored_pool(plan, texts)
    say(f"pool: {count_of(len(pool), 'reply', 'replies')} of the training data.")
    identity = {} if plan.start else {"tokenizer": describe_tokenizer(family, plan)}
    return RetrievalObjective(
        start.network,
        training,
        validation,
        score_batch,
        save=lambda: save_checkpoint(plan.out, start.network, start.tokenizer, {**start.parts, POOL: pool}),
        identity=identity | {"sizes": asdict(start.config)},
        finish=lambda: put_parts_in(plan, taken),
    )


def score_batch(network: nn.Module, batch: Batch) -> Scored:
    scores = network(batch["contexts"], batch["replies"])
    return score_labels(scores, torch.arange(len(scores), device=scores.device))


def _examples(name: str, source: Source, pairs: Iterable[Pair], texts: RetrievalTexts, say: Say) -> RetrievalExamples:
    try:
        examples = RetrievalExamples(pairs, texts, shuffled=name != "training")
    except DataRefused as error:
        raise DataRefused(f"The {name} data of {source} can't be used: {error}") from error
    say(f"{name}: {count_of(len(examples), 'reply', 'replies')}.")
    return examples


def _stored_pool(plan: Plan, texts: RetrievalTexts) -> Pool:
    """Return the run's pool, from the training part of the data. A resumed run has it in its folder."""
    path = plan.run_folder / POOL_FILE
    if path.exists() and (plan.run_folder / STATE).exists():
        return Pool(path)
    dialogs = named_dialogs(plan.data.training, plan.data.training_records())
    return make_pool(dialogs, texts.count_known, path)


def _flatten(rows: Sequence[npt.NDArray[np.int32]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    return np.concatenate(rows), np.cumsum([0, *map(len, rows)])
