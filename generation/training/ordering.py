"""Form batches of examples of similar length, so that there is little padding, in an order that the seed decides."""

import numpy as np
import numpy.typing as npt

BATCHES_IN_A_POOL = 50

Indices = npt.NDArray[np.int64]


def epoch_batches(lengths: npt.NDArray[np.int64], batch_size: int, seed: int, epoch: int) -> list[Indices]:
    """Return batches that contain each example once. Examples are shuffled and sorted by length within pools of some
    batches; then the batches are shuffled.

    The result depends on the arguments only, so that a run that is resumed within an epoch gets the same batches.
    """
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    pool_size = batch_size * BATCHES_IN_A_POOL
    pools = [order[start : start + pool_size] for start in range(0, len(order), pool_size)]
    by_length = np.concatenate([pool[np.argsort(lengths[pool], kind="stable")] for pool in pools])
    batches = [by_length[start : start + batch_size] for start in range(0, len(order), batch_size)]
    return [batches[position] for position in rng.permutation(len(batches))]


def validation_batches(lengths: npt.NDArray[np.int64], batch_size: int) -> list[Indices]:
    order = np.argsort(lengths, kind="stable")
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def share_of(batch: Indices, rank: int, world_size: int, parts: int) -> list[Indices]:
    """Return one process's share of a batch, in `parts` whose gradients are added up. Parts may be empty."""
    return np.array_split(batch[rank::world_size], parts)
