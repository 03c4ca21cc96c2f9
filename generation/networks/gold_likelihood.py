"""How likely a network finds given replies: what perplexity is made of."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F

from generation.networks.batches import stack, stack_contexts
from generation.networks.checkpoint import Checkpoint
from generation.networks.labels import LABEL_IDS
from generation.networks.tokenizing import PAD, EncodedContext, encode_reply

AT_ONCE = 8  # with 50,265 tokens, the scores of 8 replies of 100 tokens take 160 MB


@torch.inference_mode()
def score_golds(
    checkpoint: Checkpoint, contexts: Sequence[EncodedContext], labels: Sequence[str], golds: Sequence[str]
) -> list[tuple[float, int]]:
    """For each gold, the sum of the natural logarithms of its tokens' probabilities, `</s>` among them, and how many
    tokens these are. `labels` are those of the replies; the plain Transformer has none."""
    longest = checkpoint.config.max_tokens
    replies = [encode_reply(checkpoint.tokenizer, gold, longest) for gold in golds]
    order = sorted(range(len(golds)), key=lambda place: len(replies[place]))  # little padding
    found: dict[int, tuple[float, int]] = {}
    for start in range(0, len(order), AT_ONCE):
        places = order[start : start + AT_ONCE]
        sums = _log_probabilities(
            checkpoint,
            [contexts[place] for place in places],
            [replies[place] for place in places],
            [LABEL_IDS[labels[place]] for place in places if labels[place]],
        )
        found |= {place: (total, len(replies[place]) - 1) for place, total in zip(places, sums, strict=True)}
    return [found[place] for place in range(len(golds))]


def _log_probabilities(
    checkpoint: Checkpoint, contexts: Sequence[EncodedContext], replies: Sequence[list[int]], labels: Sequence[int]
) -> list[float]:
    device = checkpoint.network.device
    source = stack_contexts(contexts, device)
    said = stack([reply[:-1] for reply in replies], PAD, device)  # [B, T]
    to_say = stack([reply[1:] for reply in replies], PAD, device)
    segments = torch.tensor([context.reply_segment for context in contexts], device=device)[:, None].expand_as(said)
    inputs = {name: tensor for name, tensor in source.items() if labels or name != "source_labels"}
    if labels:
        inputs["response_labels"] = torch.tensor(labels, device=device)
    logits = checkpoint.network(**inputs, target_ids=said, target_segments=segments)  # [B, T, vocabulary]
    losses = F.cross_entropy(logits.float().transpose(1, 2), to_say, ignore_index=PAD, reduction="none")
    return [-total for total in losses.sum(dim=1).tolist()]
