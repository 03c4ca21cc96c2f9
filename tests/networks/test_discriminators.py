"""EmpDG's discriminators, and the training of its generator against them."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor

from generation.corpora.formats import dialog_format, read_dialog_file
from generation.corpora.import_records import DialogRecord
from generation.errors import TrainingRefused
from generation.networks.checkpoint import load_checkpoint
from generation.networks.discriminators import PENALTY, Discriminator, last_states
from generation.networks.empathy_words import PAD
from generation.networks.empdg import EMOTION_WORDS, Discriminators, EmpdgConfig
from generation.networks.empdg_training import (
    FeedbackExamples,
    Opponents,
    score_against_discriminators,
    score_discriminators,
)
from generation.networks.trs import score_words_and_emotion
from generation.training.objective import IGNORED, Score
from generation.training.state import STATE
from tests.networks.empathy_networks import small_words
from tests.networks.test_empdg import IDS, REPLY, SPEAKERS, small_empdg
from tests.networks.training_runs import Killed, Listener, Run, assert_same_tensors, history

ED = Path("/work/shared/data")
BATCH = {
    "source_ids": IDS,
    "source_speakers": SPEAKERS,
    "target_ids": REPLY,
    "targets": torch.tensor([[9, 13, 2], [14, 2, IGNORED]]),
    "emotions": torch.tensor([3, 4]),
    "feedback_ids": torch.tensor([[10, 11, 2], [12, 2, PAD]]),
}


def opponents(without: str = "") -> Opponents:
    generator = small_empdg(without)
    torch.manual_seed(1)
    discriminators = Discriminators(generator.config)
    with torch.no_grad():
        for parameter in discriminators.parameters():
            parameter.normal_(std=0.5)
    return Opponents(generator, discriminators)


def gradient_of(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def states(seed: int, length: int = 4) -> Tensor:
    torch.manual_seed(seed)
    return torch.randn(2, length, 16)


def test_a_discriminator_has_as_many_parameters_as_published_with_a_trained_convolution_and_no_hidden_layer() -> None:
    one = Discriminator(11, 300)
    hidden_layer = 300 * 150 + 150 + 2 * 150 + 150 + 1  # of the code, with its batch norm
    assert sum(p.numel() for p in one.parameters()) == 300 * 11 + 768_001 - hidden_layer + 301 + 180_300
    both = Discriminators(EmpdgConfig("empdg", 11))
    assert sum(p.numel() for p in both.parameters()) == 2 * (300 * 11 + 903_001)
    assert Discriminators(EmpdgConfig("empdg", 11, without=EMOTION_WORDS)).emotional is None


def test_made_and_human_replies_swapped_negate_the_loss_without_the_penalty() -> None:
    discriminator, lengths = opponents().discriminators.semantic, torch.tensor([4, 3])
    feedback, context = states(3)[:, 0], states(4)[:, 0]

    def loss(made: Tensor, human: Tensor) -> Tensor:
        torch.manual_seed(0)
        return discriminator.loss(made, human, lengths, feedback, context)

    def penalty(one: Tensor) -> Tensor:  # a mixture of a reply with itself is the reply
        return loss(one, one) / PENALTY

    one, other = states(1), states(2)
    share = torch.rand(2, 1, 1, generator=torch.Generator().manual_seed(0))
    forth = loss(one, other) - PENALTY * penalty(share * one + (1 - share) * other)
    back = loss(other, one) - PENALTY * penalty(share * other + (1 - share) * one)

    assert float(forth.detach().abs().min()) > 1e-3
    torch.testing.assert_close(forth, -back, atol=1e-4, rtol=1e-4)
    made, human = (discriminator.judge(reply, lengths, feedback, context) for reply in (one, other))
    torch.testing.assert_close(forth, made - human, atol=1e-4, rtol=1e-4)


def test_the_penalty_wants_gradients_of_length_one() -> None:
    discriminator, lengths = opponents().discriminators.semantic, torch.tensor([4, 4])
    feedback, context, reply = states(3)[:, 0], states(4)[:, 0], states(1).requires_grad_()

    penalty = discriminator.loss(reply, reply, lengths, feedback, context) / PENALTY

    [gradient] = torch.autograd.grad(discriminator.judge(reply, lengths, feedback, context).sum(), reply)
    torch.testing.assert_close(penalty, (gradient.flatten(1).norm(dim=1) - 1).square(), atol=1e-4, rtol=1e-4)


def test_what_comes_after_a_text_s_end_changes_nothing() -> None:
    discriminator, lengths = opponents().discriminators.semantic, torch.tensor([3, 2])
    ids = torch.tensor([[9, 10, 11, 12, 9], [8, 9, 12, 12, 12]])
    feedback, context = states(3)[:, 0], states(4)[:, 0]

    def judge(length: int) -> Tensor:
        read = discriminator.read_ids(ids[:, :length], torch.ones(2, length))
        torch.testing.assert_close(last_states(read, lengths)[0], read[0, 2])
        return discriminator.judge(read, lengths, feedback, context)

    torch.testing.assert_close(judge(5), judge(3))


def test_expected_words_of_a_certain_reply_are_its_words() -> None:
    discriminator, ids = opponents().discriminators.semantic, torch.tensor([[9, 10, 11]])
    certain = torch.nn.functional.one_hot(ids, len(discriminator.words.weight)).float()

    torch.testing.assert_close(discriminator.read(certain), discriminator.read_ids(ids, torch.ones(1, 3)))


@pytest.mark.parametrize("without", ["", EMOTION_WORDS])
def test_the_discriminators_gradient_reaches_the_generator_by_its_weight(without: str) -> None:
    def gradients(score: Score, of_generator: bool = False) -> list[Tensor]:
        both = opponents(without)
        minimised = score(both.generator if of_generator else both, BATCH).minimised
        assert minimised is not None
        minimised.sum().backward()  # type: ignore[no-untyped-call]
        return [parameter.grad for parameter in both.generator.parameters() if parameter.grad is not None]

    alone = gradients(score_words_and_emotion, of_generator=True)
    weightless = gradients(partial(score_against_discriminators, weight=0.0))
    weighted = gradients(score_against_discriminators)

    torch.testing.assert_close(weightless, alone)
    assert sum(float((one - other).norm()) for one, other in zip(weighted, alone, strict=True)) > 1e-3


def test_what_the_discriminators_find_better_lowers_the_generator_s_loss() -> None:
    both = opponents()

    before = score_against_discriminators(both, BATCH).minimised
    with torch.no_grad():
        both.discriminators.semantic.output.bias.add_(1)  # it judges every reply to be better by 1
    after = score_against_discriminators(both, BATCH).minimised

    assert before is not None
    torch.testing.assert_close(after, before - 1)


def test_a_step_of_the_discriminators_leaves_the_generator_alone() -> None:
    both = opponents()

    score = score_discriminators(both, BATCH)
    assert score.minimised is not None
    score.minimised.sum().backward()  # type: ignore[no-untyped-call]

    assert all(parameter.grad is None for parameter in both.generator.parameters())
    assert both.discriminators.emotional is not None
    for one in (both.discriminators.semantic, both.discriminators.emotional):
        learnt = {name for name, weight in one.named_parameters() if float(gradient_of(weight).norm()) > 0}
        assert {name for name, _ in one.named_parameters()} - learnt == {"output.bias"}  # it is the same for both


def test_the_emotional_discriminator_reads_emotion_words_only() -> None:
    both, other = opponents(), dict(BATCH)
    other["targets"] = torch.tensor([[9, 10, 2], [13, 2, IGNORED]])  # other words, but the same emotion words: 9
    other["feedback_ids"] = torch.tensor([[12, 11, 2], [14, 2, PAD]])
    semantic = score_discriminators(both, BATCH).minimised, score_discriminators(both, other).minimised
    both.discriminators.semantic.output.weight.data.fill_(0)

    torch.manual_seed(0)
    first = score_discriminators(both, BATCH).minimised
    torch.manual_seed(0)
    second = score_discriminators(both, other).minimised

    assert all(one is not None for one in (*semantic, first, second))
    torch.testing.assert_close(first, second)


@pytest.mark.parametrize("without", ["", EMOTION_WORDS])
def test_turns_go_on_to_the_same_numbers_after_a_kill_and_are_judged_by_accuracy(
    without: str, empathy_run: Run, tmp_path: Path
) -> None:
    empathy_run("empdg", "alone", options={"without": without} if without else {})
    given = {"part": "discriminators", "start": "alone", "options": {"discriminator_steps": 4}}

    empathy_run("empdg", "whole", **given)
    with pytest.raises(Killed):
        empathy_run("empdg", "killed", listener=Listener(kill_at=6), **given)
    empathy_run("empdg", "killed", **given)

    run, other = tmp_path / "whole.discriminators.training", tmp_path / "killed.discriminators.training"
    assert history(other) == history(run)
    assert_same_tensors(other / STATE, run / STATE)
    assert_same_tensors(tmp_path / "killed" / "model.safetensors", tmp_path / "whole" / "model.safetensors")
    entries = history(run)
    assert entries[0]["step"] == 4  # the generator was not changed before:
    assert entries[0]["accuracy"] == history(tmp_path / "alone.training")[-1]["accuracy"]
    checkpoint = load_checkpoint(tmp_path / "whole")
    assert (checkpoint.parts["discriminators"].emotional is None) is bool(without)
    assert json.loads((run / "history.json").read_text())["settings"]["discriminator_steps"] == 4


def test_discriminators_need_a_trained_generator_and_its_words(empathy_run: Run) -> None:
    with pytest.raises(TrainingRefused, match="name its checkpoint: --from FOLDER"):
        empathy_run("empdg", "it", part="discriminators")
    with pytest.raises(TrainingRefused, match="its own words and their vectors; leave --lexicon out"):
        empathy_run("empdg", "it", part="discriminators", start="alone", options={"lexicon": "words.txt"})


def test_examples_have_the_feedback_to_each_answered_reply() -> None:
    words = small_words("empdg")
    record = DialogRecord(1, "a", ["i lost my keys", "oh no", "so sad", "what a pity", "too soon"], "you hurts")

    examples = FeedbackExamples.from_records([record], words, 100)
    rows = examples.rows(torch.arange(2).numpy())

    read = [
        [words.decode([id for id in row if id >= 0]) for row in rows[name].tolist()]
        for name in ("source_ids", "targets", "feedback_ids")
    ]
    assert read == [
        ["i lost my keys", "i lost my keys oh no so sad"],
        ["oh no", "what a pity"],
        ["so sad", "soon"],
    ]


@pytest.mark.skipif(not ED.exists(), reason="EmpatheticDialogues, which may not be shipped, is not here")
def test_empathetic_dialogues_have_the_known_number_of_examples() -> None:
    path = ED / "ed_test.jsonl"
    records = [one for one in read_dialog_file(path, dialog_format(path, None)) if isinstance(one, DialogRecord)]

    assert len(FeedbackExamples.from_records(records, small_words("empdg"), 100)) == 2712
