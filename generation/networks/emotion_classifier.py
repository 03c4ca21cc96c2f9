"""Which of the 41 emotions and intents a turn shows: any Hugging Face encoder with a head for them. The paper's is
RoBERTa; `start_from_scratch` makes a small one where no pre-trained encoder is at hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import torch
from tokenizers import Tokenizer, processors
from torch import Tensor, nn
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)
from transformers.utils import logging

from generation.generators.base import CheckpointRefused, first_line
from generation.networks.labels import LABEL_IDS, LABELS
from generation.networks.tokenizing import BEGIN, END, SPECIAL_TOKENS

logging.disable_progress_bar()  # a worker's log is no terminal

NAMES: dict[str, Any] = {"id2label": dict(enumerate(LABELS)), "label2id": LABEL_IDS}


class EmotionClassifier:
    """`network` is the Hugging Face model itself, for training."""

    def __init__(self, network: Any, tokenizer: Any, max_tokens: int = 128) -> None:
        self.network: nn.Module = network.eval()
        self.tokenizer = tokenizer
        self.max_tokens = min(max_tokens, tokenizer.model_max_length)

    @classmethod
    def start_from(cls, encoder: str) -> Self:
        """A pre-trained encoder, from a folder or the hub, with a new head."""
        network = AutoModelForSequenceClassification.from_pretrained(
            encoder, num_labels=len(LABELS), use_safetensors=True, ignore_mismatched_sizes=True, **NAMES
        )
        return cls(network, AutoTokenizer.from_pretrained(encoder))

    @classmethod
    def start_from_scratch(cls, tokenizer: Tokenizer, width: int, heads: int, layers: int) -> Self:
        """RoBERTa's architecture in another size, on a tokenizer of ours."""
        config = RobertaConfig(
            vocab_size=tokenizer.get_vocab_size(),
            hidden_size=width,
            num_attention_heads=heads,
            num_hidden_layers=layers,
            intermediate_size=4 * width,
            max_position_embeddings=130,  # 128 tokens: RoBERTa counts from its pad token's id
            type_vocab_size=1,
            num_labels=len(LABELS),
            **NAMES,
        )
        begin, pad, end, unknown = SPECIAL_TOKENS
        with_ends = Tokenizer.from_str(tokenizer.to_str())
        with_ends.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {end}", special_tokens=[(begin, BEGIN), (end, END)]
        )
        wrapped = PreTrainedTokenizerFast(
            tokenizer_object=with_ends,
            bos_token=begin,
            cls_token=begin,
            pad_token=pad,
            eos_token=end,
            sep_token=end,
            unk_token=unknown,
            model_max_length=128,
        )
        return cls(RobertaForSequenceClassification(config), wrapped)

    @classmethod
    def load(cls, folder: str, device: str = "cpu") -> Self:
        try:
            network, found = AutoModelForSequenceClassification.from_pretrained(
                folder, use_safetensors=True, output_loading_info=True
            )
            tokenizer = AutoTokenizer.from_pretrained(folder)
        except Exception as error:  # the library raises whatever it meets
            raise CheckpointRefused(f"The emotion classifier {folder} cannot be loaded: {first_line(error)}") from error
        if missing := sorted(found["missing_keys"]):
            raise CheckpointRefused(f"The emotion classifier {folder} is not complete: its weights lack {missing[0]}.")
        if sorted(network.config.id2label.values()) != sorted(LABELS):
            raise CheckpointRefused(f"The emotion classifier {folder} does not name the 41 labels as its own.")
        return cls(network.to(device), tokenizer)

    def save(self, folder: Path) -> None:
        network: Any = self.network
        network.save_pretrained(folder, safe_serialization=True)
        self.tokenizer.save_pretrained(folder)

    def encode(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """input_ids and attention_mask [B, T], for `network` in training and here."""
        encoded = self.tokenizer(
            list(texts), padding=True, truncation=True, max_length=self.max_tokens, return_tensors="pt"
        )
        return {name: encoded[name].to(self.device) for name in ("input_ids", "attention_mask")}

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    @torch.inference_mode()
    def probabilities(self, texts: Sequence[str]) -> Tensor:
        """[texts, 41], in the order of LABELS whatever the order of the model's own."""
        network: Any = self.network
        logits = network(**self.encode(texts)).logits.float()
        ids = {name: number for number, name in network.config.id2label.items()}
        ordered: Tensor = logits[:, [ids[label] for label in LABELS]].softmax(dim=-1)
        return ordered

    def label(self, texts: Sequence[str], batch_size: int = 64) -> list[str]:
        labels: list[str] = []
        for start in range(0, len(texts), batch_size):
            best = self.probabilities(texts[start : start + batch_size]).argmax(dim=-1)
            labels += [LABELS[int(number)] for number in best]
        return labels
