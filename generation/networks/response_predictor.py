"""MEED2's choice of the emotion or intent to reply in: an encoder of its own, pooled by attention with one trained
vector, a hidden layer, and scores of the 41 labels (the paper's equations 1 and 2)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from generation.networks.config import NetworkConfig
from generation.networks.labels import LABELS
from generation.networks.layers import Embedder, Encoder, initialise, padding_mask
from generation.networks.tokenizing import PAD


class ResponsePredictor(nn.Module):
    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.embedder = Embedder(config)
        self.encoder = Encoder(config)
        self.pooling = nn.Linear(config.width, 1, bias=False)  # v
        self.hidden = nn.Linear(config.width, config.width)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.width, len(LABELS))
        self.apply(initialise)

    def forward(self, source_ids: Tensor, source_segments: Tensor, source_labels: Tensor) -> Tensor:
        """[B, S] each -> logits [B, 41]"""
        mask = padding_mask(source_ids, PAD)
        states = self.encoder(self.embedder(source_ids, source_segments, source_labels), mask)  # r_i
        weights = self.pooling(states).squeeze(-1)  # [B, S]
        weights = weights.masked_fill(source_ids == PAD, -torch.inf).softmax(dim=-1)  # alpha_i
        pooled = (weights[:, None, :] @ states).squeeze(1)  # r
        logits: Tensor = self.output(self.dropout(F.gelu(self.hidden(pooled))))
        return logits
