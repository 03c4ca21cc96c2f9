"""Find the tokens that would repeat an n-gram of the reply, so that decoding can ban them (Paulus et al. 2018)."""

from torch import Tensor

Pairs = tuple[Tensor, Tensor]  # rows and tokens, [pairs] each


def repeating_tokens(sequences: Tensor, size: int) -> Pairs | None:
    """Return the (row, token) pairs for which a row of `sequences` [rows, tokens], followed by the token, would contain
    an n-gram of that size twice:

        token = s[i + size - 1]  for each place i at which  s[i : i + size - 1] = the last size - 1 tokens

    >>> import torch
    >>> repeating_tokens(torch.tensor([[7, 8, 9, 7, 8]]), size=3)
    (tensor([0]), tensor([9]))
    """
    length = sequences.shape[1]
    if size == 0 or length < size:
        return None
    windows = sequences.unfold(1, size, 1)  # [rows, places, size]
    ending = sequences[:, length - size + 1 :]  # a repeated n-gram would begin with these tokens
    rows, places = (windows[:, :, :-1] == ending[:, None]).all(dim=2).nonzero(as_tuple=True)
    return rows, windows[rows, places, -1]
