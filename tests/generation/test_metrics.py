"""The metrics themselves: hand-computed cases, another implementation, and what is known of published outputs."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generation.metrics.bleu import bleu, sentence_bleu
from generation.metrics.distinct import distinct
from generation.metrics.emotion_accuracy import share_within
from generation.metrics.label_accuracy import weighted
from generation.metrics.perplexity import perplexity
from generation.metrics.reply_ranking import count_found, hundreds
from generation.metrics.words import words_of

REPLIES = ["i am so sorry to hear that .", "that is great !", "did you go to the store with her ?"]
GOLDS = ["I'm so sorry to hear that.", "That is really great news!", "Why did you go to the store?"]


def plain_bleu(replies: Sequence[Sequence[str]], golds: Sequence[Sequence[str]], order: int) -> float:
    """Papineni's BLEU, written from its formula."""
    logs = 0.0
    for n in range(1, order + 1):
        matched, total = 0, 0
        for reply, gold in zip(replies, golds, strict=True):
            mine, theirs = grams(reply, n), grams(gold, n)
            matched += sum((mine & theirs).values())
            total += sum(mine.values())
        if not matched:
            return 0.0
        logs += math.log(matched / total) / order
    said, wanted = (sum(map(len, texts)) for texts in (replies, golds))
    return 100 * min(1.0, math.exp(1 - wanted / said)) * math.exp(logs)


def grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


def test_words_are_lower_case_and_have_punctuation_apart() -> None:
    assert words_of("I don't know, Helen...  100% sure?") == words_of("i don't know , helen ... 100 % sure ?")


def test_distinct_counts_over_all_replies_together() -> None:
    replies = [["so", "sad"], ["so", "sad", "so", "sad"], ["why"]]

    assert distinct(replies, 1) == 3 / 7
    assert distinct(replies, 2) == 2 / 4
    assert distinct([["why"]], 2) is None
    assert distinct([], 1) is None


def test_bleu_is_that_of_both_papers() -> None:
    replies, golds = ([words_of(text) for text in texts] for texts in (REPLIES, GOLDS))

    found = bleu(REPLIES, GOLDS)

    by_order = [plain_bleu(replies, golds, order) for order in (1, 2, 3, 4)]
    assert found.of_4 == pytest.approx(by_order[3])
    assert found.average == pytest.approx(sum(by_order) / 4)
    assert bleu(GOLDS, GOLDS).average == pytest.approx(100)
    assert bleu(["well"], ["no match here"]).of_4 == 0


def test_sentence_bleu_ranks_single_replies() -> None:
    scores = [sentence_bleu(text, "I am so happy for you!") for text in ("I am so happy for you!", "so happy", "Why?")]

    assert scores[0] == pytest.approx(100)
    assert scores[0] > scores[1] > scores[2] >= 0


def test_perplexity_by_dialog_and_by_token_differ() -> None:
    found = perplexity([(math.log(1 / 2), 1), (math.log(1 / 8), 3)])

    assert found is not None
    assert found.macro == pytest.approx(4)  # sqrt(2 * 8)
    assert found.by_token == pytest.approx((2 * 8**3) ** (1 / 4))
    assert perplexity([]) is None
    assert perplexity([(-1e9, 1)]) is None


def test_labels_are_weighted_by_how_often_they_are_true() -> None:
    found = weighted(["sad", "sad", "sad", "joyful"], ["sad", "sad", "joyful", "proud"])

    assert found is not None
    assert found.precision == pytest.approx(3 / 4 * 1 + 1 / 4 * 0)
    assert found.recall == pytest.approx(2 / 4)
    assert found.f1 == pytest.approx(3 / 4 * (2 * 1 * (2 / 3)) / (1 + 2 / 3))
    assert weighted([], []) is None


def test_emotions_count_within_the_likeliest() -> None:
    ranks = [1, 2, 2, 5, 7]

    assert [share_within(ranks, most) for most in (1, 2, 5)] == [1 / 5, 3 / 5, 4 / 5]
    assert share_within([], 1) is None


# --- Published outputs, of which half is at hand; the published numbers are those of the full test set ----------------

PUBLISHED_BLEU = {
    "MIME": 2.76, "MIME-beam": 3.13, "MIME-topk": 1.76,
    "Transformer(MoEL repo: trs)": 3.02, "Multi-TR(MoEL repo: trs+multitask)": 2.98, "MoEL": 2.90,
}  # fmt: skip
PUBLISHED_DISTINCT = {"Transformer(EmpDG repo)": (1.17, 4.70), "EmpDG": (1.81, 6.94)}  # x 100, of 2,713 replies


@pytest.fixture
def published(shared_data: Path) -> list[dict[str, Any]]:
    with (shared_data / "ed_test_candidates.jsonl").open() as file:
        return [json.loads(line) for line in file]


def test_bleu_of_published_outputs_is_near_what_their_authors_say(published: list[dict[str, Any]]) -> None:
    for name, known in PUBLISHED_BLEU.items():
        lines = [line for line in published if name in line["candidates"]]
        replies, golds = [line["candidates"][name] for line in lines], [line["reference_tokenized"] for line in lines]

        found = bleu(replies, golds)

        plain = plain_bleu([words_of(text) for text in replies], [words_of(text) for text in golds], 4)
        assert found.of_4 == pytest.approx(plain)
        assert found.of_4 == pytest.approx(known, abs=0.35)


def test_distinct_and_emotions_of_published_outputs_are_near_what_their_authors_say(
    published: list[dict[str, Any]],
) -> None:
    guesses = [line["mime_predicted_emotion"] == line["emotion"] for line in published]
    assert sum(guesses) / len(guesses) == pytest.approx(0.3488, abs=0.02)
    for name, known in PUBLISHED_DISTINCT.items():
        replies = [line["candidates"][name].split() for line in published if name in line["candidates"]]
        for n in (1, 2):
            share = distinct(replies, n)

            assert share == len(set().union(*(grams(one, n) for one in replies))) / sum(
                sum(grams(one, n).values()) for one in replies
            )
            assert share is not None
            assert known[n - 1] < 100 * share < 2 * known[n - 1]  # of half the replies: more is different


def test_p_at_1_100_shuffles_into_whole_hundreds_always_the_same_way_and_counts_own_replies() -> None:
    groups = hundreds(range(5259))

    assert [len(group) for group in groups] == [100] * 52
    assert len({number for group in groups for number in group}) == 5200
    assert groups == hundreds(range(5259))
    assert sorted(groups[0]) != groups[0]
    assert [len(group) for group in hundreds(range(1000))] == [100] * 10  # a full last one stays
    assert count_found([[3.0, 1.0, 2.0], [9.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) == 2


def test_random_scores_find_one_of_a_hundred() -> None:
    rng = np.random.default_rng(0)

    found = sum(count_found(rng.random((100, 100)).tolist()) for _ in range(100))

    assert found / 10_000 == pytest.approx(0.01, abs=0.003)
