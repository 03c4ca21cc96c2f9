"""Networks of ours as Hugging Face BARTs with the same weights: the other side of comparisons."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BartConfig, BartForConditionalGeneration

from generation.networks.tokenizing import BEGIN, END, PAD
from generation.networks.transformer import Transformer

Pairs = Iterator[tuple[Tensor, Tensor]]


def as_bart(network: Transformer, *, is_tied: bool = False) -> BartForConditionalGeneration:
    """BART knows no segments: the two agree where all of ours are 0."""
    config = network.config
    bart = BartForConditionalGeneration(
        BartConfig(
            vocab_size=config.vocabulary_size,
            d_model=config.width,
            encoder_layers=config.layers,
            decoder_layers=config.layers,
            encoder_attention_heads=config.heads,
            decoder_attention_heads=config.heads,
            encoder_ffn_dim=config.feed_forward,
            decoder_ffn_dim=config.feed_forward,
            max_position_embeddings=config.max_tokens,
            activation_function="gelu",
            scale_embedding=False,
            tie_word_embeddings=is_tied,
            bos_token_id=BEGIN,
            pad_token_id=PAD,
            eos_token_id=END,
            decoder_start_token_id=BEGIN,
            forced_eos_token_id=None,
        )
    )
    with torch.no_grad():
        for theirs, ours in _pairs(network, bart):
            theirs.copy_(ours)
    return bart.eval()


def _pairs(network: Transformer, bart: BartForConditionalGeneration) -> Pairs:
    model = bart.model
    embedder = network.embedder
    yield model.shared.weight, embedder.words.weight
    for part in (model.encoder, model.decoder):
        yield part.embed_tokens.weight, embedder.words.weight
        yield part.embed_positions.weight[2:], embedder.positions.weight + embedder.segments.weight[0]
        yield from _same(part.layernorm_embedding, embedder.norm)
    yield bart.lm_head.weight, network.output.weight
    yield bart.final_logits_bias[0], network.output.bias
    for theirs, ours in zip(model.encoder.layers, network.encoder, strict=True):
        yield from _layer_pairs(theirs, ours)
    for theirs, ours in zip(model.decoder.layers, network.decoder, strict=True):
        yield from _layer_pairs(theirs, ours)
        crossing = theirs.encoder_attn
        yield from _same(crossing.q_proj, ours.cross_attention.query)
        yield from _split(ours.cross_attention.key_value, crossing.k_proj, crossing.v_proj)
        yield from _same(crossing.out_proj, ours.cross_attention.output)
        yield from _same(theirs.encoder_attn_layer_norm, ours.cross_attention_norm)


def _layer_pairs(theirs: Any, ours: Any) -> Pairs:
    attention = theirs.self_attn
    yield from _split(ours.attention.query_key_value, attention.q_proj, attention.k_proj, attention.v_proj)
    yield from _same(attention.out_proj, ours.attention.output)
    yield from _same(theirs.self_attn_layer_norm, ours.attention_norm)
    yield from _same(theirs.fc1, ours.feed_forward.inner)
    yield from _same(theirs.fc2, ours.feed_forward.outer)
    yield from _same(theirs.final_layer_norm, ours.feed_forward_norm)


def _same(theirs: Any, ours: Any) -> Pairs:
    yield theirs.weight, ours.weight
    yield theirs.bias, ours.bias


def _split(ours: nn.Linear, *theirs: Any) -> Pairs:
    for linear, weight, bias in zip(theirs, ours.weight.chunk(len(theirs)), ours.bias.chunk(len(theirs)), strict=True):
        yield linear.weight, weight
        yield linear.bias, bias
