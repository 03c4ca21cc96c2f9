"""MEED2: the Transformer that is told the emotion or intent of every turn, and of the reply that it is to write."""

from torch import Tensor

from generation.networks.transformer import Transformer


class Meed2(Transformer):
    """Trained with the reply's true label, it obeys any label that it is given."""

    def forward(  # type: ignore[override]  # it needs more than its parent
        self,
        source_ids: Tensor,
        source_segments: Tensor,
        target_ids: Tensor,
        target_segments: Tensor,
        source_labels: Tensor,
        response_labels: Tensor,
    ) -> Tensor:
        """As in Transformer, with [B, S] labels of the turns and [B] labels of the replies."""
        target_labels = response_labels[:, None].expand_as(target_ids)
        return self._score(source_ids, source_segments, source_labels, target_ids, target_segments, target_labels)
