"""Find the tokens that would repeat an n-gram."""

from torch import Tensor

Pairs = tuple[Tensor, Tensor]  # rows and tokens, [pairs] each


def repeating_tokens(sequences: Tensor, size: int) -> Pairs | None:
    """The (row, token) pairs for which `sequences` [rows, tokens], followed by that token, would have an n-gram of that
    size twice.

    >>> import torch
    >>> repeating_tokens(torch.tensor([[7, 8, 9, 7, 8]]), size=3)
    (tensor([0]), tensor([9]))
    """
    length = sequences.shape[1]
    if size == 0 or length < size:
        return None
    windows = sequences.unfold(1, size, 1)  # [rows, places, size]
    ending = sequences[:, length - size + 1 :]  # what a repeated n-gram would begin with
    rows, places = (windows[:, :, :-1] == ending[:, None]).all(dim=2).nonzero(as_tuple=True)
    return rows, windows[rows, places, -1]
