"""The memory of a decoder while it writes the replies of a batch: keys and values of all tokens so far (the KV cache).

Beams of one dialog share their past. The usual cache has a copy for every beam and reorders it at every step. Here each
token that a beam ever appended is stored once, as a node of the dialog's tree, and `visible` says which nodes belong to
a beam's own past. Choosing beams then only moves some bits. When there are too many nodes, those that no beam sees any
more are removed.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from generation.decoding.decoder import NextTokens
from generation.decoding.projection import ProjectedNextTokens, Projection

KeysAndValues = tuple[Tensor, Tensor]  # each [B, H, T, D]

FIRST_CAPACITY = 128


@dataclass(kw_only=True)
class ReplyState:
    """What all networks remember; families add to it."""

    memory: list[KeysAndValues]  # keys and values of the context, for each layer: [B, H, S, D]
    memory_mask: Tensor | None  # [B, 1, 1, S]
    visible: Tensor  # [B, beams, nodes]
    position: int = 0
    _past: Tensor = field(init=False)  # keys and values of the nodes: [layers, 2, B, H, capacity, D]

    def __post_init__(self) -> None:
        keys, _ = self.memory[0]
        batch, heads, _, depth = keys.shape
        self._past = keys.new_empty(len(self.memory), 2, batch, heads, FIRST_CAPACITY, depth)

    @property
    def dialogs(self) -> int:
        return len(self.visible)

    @property
    def device(self) -> torch.device:
        return self.visible.device

    def make_room(self, beams: int) -> None:
        """Add a node for each beam's next token, which only that beam sees."""
        batch, _, nodes = self.visible.shape
        if nodes + beams > self._past.shape[4]:
            self._remove_unseen_nodes(beams)
        own = torch.eye(beams, dtype=torch.bool, device=self.visible.device).expand(batch, beams, beams)
        self.visible = torch.cat([self.visible, own], dim=2)

    def remember(self, layer: int, keys: Tensor, values: Tensor) -> KeysAndValues:
        """Store keys and values of the new tokens, [B, H, beams, D] each. Return the whole past of that layer."""
        nodes = self.visible.shape[2]
        new = slice(nodes - keys.shape[2], nodes)
        past_keys, past_values = self._past[layer]
        past_keys[:, :, new] = keys
        past_values[:, :, new] = values
        return past_keys[:, :, :nodes], past_values[:, :, :nodes]

    def choose_beams(self, parents: Tensor) -> None:
        """Choose beams: `parents` [B, beams] says for each new beam which old one it continues."""
        nodes = self.visible.shape[2]
        self.visible = self.visible.gather(1, parents[:, :, None].expand(-1, -1, nodes))

    def keep_dialogs(self, kept: Tensor) -> None:
        """Drop finished dialogs: `kept` [fewer] are the indexes of those that go on."""
        self.memory = [(keys[kept], values[kept]) for keys, values in self.memory]
        self.memory_mask = None if self.memory_mask is None else self.memory_mask[kept]
        self.visible = self.visible[kept]
        self._past = self._past.index_select(2, kept)

    def _remove_unseen_nodes(self, beams: int) -> None:
        """Move the nodes that a beam still sees to the front, in their order. If they fill half of the room, double
        it."""
        is_alive = self.visible.any(dim=1)  # [B, nodes]
        living = int(is_alive.sum(dim=1).max())
        order = (~is_alive).to(torch.uint8).argsort(dim=1, stable=True)[:, :living]
        self.visible = self.visible.gather(2, order[:, None, :].expand(-1, self.visible.shape[1], -1))
        _, _, _, heads, capacity, depth = self._past.shape
        index = order[:, None, :, None].expand(-1, heads, -1, depth)
        for layer in self._past:
            for cached in layer:  # keys, values
                cached[:, :, :living] = cached.gather(2, index)
        if living + beams > capacity // 2:
            shape = list(self._past.shape)
            shape[4] = 2 * (living + beams)
            past, self._past = self._past, self._past.new_empty(shape)
            self._past[:, :, :, :, :living] = past[:, :, :, :, :living]


class CachedDecoder:
    """The Decoder of a network that reads one more token of each beam by `read_tokens(tokens, state)`."""

    first_token: int
    end_token: int

    def __init__(self, network: Any, projection: Projection, state: ReplyState) -> None:
        self.network, self.projection, self.state = network, projection, state

    @property
    def dialogs(self) -> int:
        return self.state.dialogs

    @property
    def device(self) -> torch.device:
        return self.state.device

    def step(self, tokens: Tensor) -> NextTokens:
        return ProjectedNextTokens(self.projection, self.network.read_tokens(tokens, self.state))

    def keep_beams(self, parents: Tensor) -> None:
        self.state.choose_beams(parents)

    def keep_dialogs(self, kept: Tensor) -> None:
        self.state.keep_dialogs(kept)
