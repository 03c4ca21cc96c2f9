"""Decoding, against Hugging Face's generate on the same weights and against itself in other batches."""

import math
import random
from itertools import pairwise

import pytest
import torch
from torch import Tensor
from transformers import BartForConditionalGeneration, TopKLogitsWarper, TopPLogitsWarper

from generation.decoding.beam import Hypothesis, beam_search
from generation.decoding.decoding_settings import DIVERSE_BEAM, GREEDY, NUCLEUS, TOP_K, DecodingSettings
from generation.decoding.drawn import pick_tokens, sample_replies
from generation.decoding.noise import noise_of
from generation.decoding.packing import PackedLinear
from generation.decoding.projection import pack_output
from generation.decoding.repeating import repeating_tokens
from generation.networks.tokenizing import BEGIN, END, PAD
from generation.networks.transformer import Transformer
from tests.networks.bart import as_bart
from tests.networks.small_networks import as_inputs, begin, small_network, some_contexts

CONTEXTS = some_contexts(56)
LENGTHS = {len(context) for context in CONTEXTS}


@pytest.fixture(scope="module")
def network() -> Transformer:
    return small_network()


@pytest.fixture(scope="module")
def bart(network: Transformer) -> BartForConditionalGeneration:
    return as_bart(network)


def search(network: Transformer, contexts: list[list[int]], settings: DecodingSettings) -> list[list[Hypothesis]]:
    return beam_search(begin(network, contexts), settings)


def draw(
    network: Transformer, contexts: list[list[int]], settings: DecodingSettings, seeds: list[int]
) -> list[list[int]]:
    drawn = sample_replies(begin(network, contexts), settings, seeds)
    return [hypothesis.tokens for hypothesis in drawn]


def said_by(
    bart: BartForConditionalGeneration, contexts: list[list[int]], settings: DecodingSettings
) -> list[list[int]]:
    options = {"num_beams": settings.beams, "length_penalty": settings.length_penalty, "early_stopping": False}
    if settings.method == GREEDY:
        options = {"num_beams": 1}
    said = bart.generate(
        **as_inputs(contexts),
        **options,
        do_sample=False,
        no_repeat_ngram_size=settings.no_repeat_ngram,
        max_new_tokens=settings.max_tokens,
        min_length=0,
    )
    return [_up_to_the_end(row) for row in said[:, 1:].tolist()]


def _up_to_the_end(tokens: list[int]) -> list[int]:
    if END in tokens:
        return tokens[: tokens.index(END) + 1]
    return [token for token in tokens if token != PAD]


def test_an_output_layer_says_the_same_plain_and_packed(network: Transformer) -> None:
    settings = DecodingSettings(beams=8, max_tokens=20)
    packed = pack_output(network.output, network.output.weight)

    states = torch.randn(2, 3, network.config.width)
    assert isinstance(packed, PackedLinear)
    torch.testing.assert_close(packed(states), network.output(states))
    found = [beam_search(begin(network, CONTEXTS[:8], output), settings) for output in (network.output, packed)]
    assert [[one.tokens for one in replies] for replies in found[0]] == [
        [one.tokens for one in replies] for replies in found[1]
    ]


@pytest.mark.parametrize(
    ("beams", "max_tokens", "length_penalty", "no_repeat_ngram"),
    [(1, 20, 1.0, 4), (2, 12, 1.0, 0), (5, 24, 0.6, 3), (8, 40, 2.0, 4), (32, 32, 1.0, 4), (32, 10, 0.0, 2)],
)
def test_beam_search_finds_what_hugging_face_finds(
    network: Transformer,
    bart: BartForConditionalGeneration,
    beams: int,
    max_tokens: int,
    length_penalty: float,
    no_repeat_ngram: int,
) -> None:
    settings = DecodingSettings(
        beams=beams, max_tokens=max_tokens, length_penalty=length_penalty, no_repeat_ngram=no_repeat_ngram
    )

    ours = [hypotheses[0].tokens for hypotheses in search(network, CONTEXTS, settings)]

    assert ours == said_by(bart, CONTEXTS, settings)
    assert len(LENGTHS) > 20
    assert len({len(tokens) for tokens in ours}) > 3


def test_greedy_decoding_says_what_hugging_face_says(network: Transformer, bart: BartForConditionalGeneration) -> None:
    settings = DecodingSettings(GREEDY, max_tokens=30, no_repeat_ngram=3)

    assert draw(network, CONTEXTS, settings, [0] * len(CONTEXTS)) == said_by(bart, CONTEXTS, settings)


@pytest.mark.parametrize(
    "settings",
    [
        DecodingSettings(beams=8, max_tokens=32),
        DecodingSettings(DIVERSE_BEAM, beams=8, groups=4, max_tokens=16),
        DecodingSettings(TOP_K, top_k=20, max_tokens=32),
        DecodingSettings(NUCLEUS, top_p=0.95, temperature=1.3, max_tokens=32),
    ],
    ids=lambda settings: settings.method,
)
def test_a_reply_does_not_depend_on_its_batch_nor_on_padding(network: Transformer, settings: DecodingSettings) -> None:
    seeds = list(range(len(CONTEXTS)))

    def replies(places: list[int]) -> dict[int, list[int]]:
        contexts = [CONTEXTS[place] for place in places]
        if settings.method in (TOP_K, NUCLEUS):
            said = draw(network, contexts, settings, [seeds[place] for place in places])
        else:
            said = [hypotheses[0].tokens for hypotheses in search(network, contexts, settings)]
        return dict(zip(places, said, strict=True))

    together = replies(seeds)
    shuffled = random.Random(1).sample(seeds, len(seeds))
    apart = {
        place: tokens for start in range(0, 56, 5) for place, tokens in replies(shuffled[start : start + 5]).items()
    }
    alone = {place: tokens for place in range(0, 56, 6) for tokens in replies([place]).values()}

    assert apart == together
    assert alone == {place: together[place] for place in alone}


def test_a_score_is_the_log_probability_by_length(network: Transformer) -> None:
    settings = DecodingSettings(beams=4, max_tokens=20, length_penalty=0.7)

    for context, hypotheses in zip(CONTEXTS[:8], search(network, CONTEXTS[:8], settings), strict=True):
        for hypothesis in hypotheses:
            log_probability = _log_probability(network, context, hypothesis.tokens)
            assert hypothesis.score == pytest.approx(log_probability / len(hypothesis.tokens) ** 0.7, rel=1e-4)


def test_no_reply_repeats_an_n_gram() -> None:
    never_ending = small_network(end=-20)
    settings = DecodingSettings(beams=4, max_tokens=40, no_repeat_ngram=2)

    for hypotheses in search(never_ending, CONTEXTS[:8], settings):
        for hypothesis in hypotheses:
            said = [BEGIN, *hypothesis.tokens]
            pairs = list(pairwise(said))
            assert len(pairs) == len(set(pairs))
            assert not hypothesis.is_ended


def test_tokens_that_would_repeat_an_n_gram_are_found_in_every_row() -> None:
    sequences = torch.tensor([[7, 8, 9, 7, 8], [1, 2, 3, 4, 5], [6, 6, 6, 6, 6]])

    found = repeating_tokens(sequences, 3)

    assert found is not None
    assert {(int(row), int(token)) for row, token in zip(*found, strict=True)} == {(0, 9), (2, 6)}
    assert repeating_tokens(sequences, 0) is None
    assert repeating_tokens(sequences, 6) is None


def test_diverse_beams_find_what_a_plain_search_without_cache_finds(network: Transformer) -> None:
    settings = DecodingSettings(DIVERSE_BEAM, beams=6, groups=3, diversity=3.0, max_tokens=8, no_repeat_ngram=0)

    for context in CONTEXTS[:10]:
        ours = search(network, [context], settings)[0]
        plain = _plain_diverse_search(network, context, settings)

        assert [hypothesis.tokens for hypothesis in ours] == [tokens for tokens, _ in plain]
        assert [hypothesis.score for hypothesis in ours] == pytest.approx([score for _, score in plain], rel=1e-4)


def test_diverse_beams_say_more_different_things(network: Transformer) -> None:
    def first_words(settings: DecodingSettings) -> int:
        found = search(network, CONTEXTS[:10], settings)
        return sum(len({hypothesis.tokens[0] for hypothesis in hypotheses}) for hypotheses in found)

    alike = DecodingSettings(beams=6, max_tokens=8)
    diverse = DecodingSettings(DIVERSE_BEAM, beams=6, groups=6, diversity=20.0, max_tokens=8)

    assert first_words(diverse) == 60
    assert first_words(alike) < 50


@pytest.mark.parametrize("method", [TOP_K, NUCLEUS])
def test_tokens_are_drawn_as_often_as_hugging_face_would(method: str) -> None:
    torch.manual_seed(3)
    scores = (torch.randn(1, 50) * 2).log_softmax(dim=1)
    settings = DecodingSettings(method, top_k=5, top_p=0.8)
    keep = TopKLogitsWarper(5) if method == TOP_K else TopPLogitsWarper(0.8)
    shares = keep(torch.empty(0), scores.clone()).softmax(dim=1)[0]

    drawn = pick_tokens(scores.expand(20_000, -1), settings, noise_of(range(20_000))).bincount(minlength=50) / 20_000

    assert drawn.tolist() == pytest.approx(shares.tolist(), abs=0.02)
    assert (drawn > 0).tolist() == (shares > 0).tolist()


def test_another_seed_draws_another_reply(network: Transformer) -> None:
    settings = DecodingSettings(NUCLEUS, max_tokens=32)
    many = [CONTEXTS[0]] * 20

    assert len({tuple(tokens) for tokens in draw(network, many, settings, list(range(20)))}) > 10
    assert len({tuple(tokens) for tokens in draw(network, many, settings, [5] * 20)}) == 1


def _log_probabilities(network: Transformer, context: list[int], said: list[int]) -> Tensor:
    """[tokens + 1, vocabulary]: without a cache, the whole reply at once."""
    ids, target = torch.tensor([context]), torch.tensor([[BEGIN, *said]])
    with torch.no_grad():
        logits = network(ids, torch.zeros_like(ids), target, torch.zeros_like(target))
    scores: Tensor = logits[0].log_softmax(dim=1)
    return scores


def _log_probability(network: Transformer, context: list[int], tokens: list[int]) -> float:
    scores = _log_probabilities(network, context, tokens[:-1])
    return sum(float(scores[place, token]) for place, token in enumerate(tokens))


def _plain_diverse_search(
    network: Transformer, context: list[int], settings: DecodingSettings
) -> list[tuple[list[int], float]]:
    """One dialog, lists and loops."""
    size = settings.beams // settings.groups
    groups: list[list[tuple[list[int], float]]] = [[([], 0.0)] for _ in range(settings.groups)]
    finished: list[list[tuple[list[int], float]]] = [[] for _ in groups]
    done = [False] * settings.groups
    for length in range(1, settings.max_tokens + 1):
        said: list[int] = []
        for number, beams in enumerate(groups):
            options = []
            for tokens, summed in beams:
                scores = _log_probabilities(network, context, tokens)[-1]
                options += [([*tokens, token], summed + float(score)) for token, score in enumerate(scores)]
            options.sort(key=lambda option: option[1] - settings.diversity * said.count(option[0][-1]), reverse=True)
            best = options[: 2 * size]
            said += [tokens[-1] for tokens, _ in best[:size]]
            is_last = length == settings.max_tokens
            if not done[number]:
                ended = [(tokens, summed / length) for tokens, summed in best[:size] if is_last or tokens[-1] == END]
                finished[number] = sorted(finished[number] + ended, key=lambda reply: -reply[1])[:size]
            groups[number] = [option for option in best if option[0][-1] != END][:size]
            is_full = len(finished[number]) == size
            done[number] |= is_full and groups[number][0][1] / length <= finished[number][-1][1]
        if all(done):
            break
    assert not math.isnan(sum(score for replies in finished for _, score in replies))
    return sorted((reply for replies in finished for reply in replies), key=lambda reply: -reply[1])
