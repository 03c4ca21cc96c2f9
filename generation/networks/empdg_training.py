"""Train EmpDG: its examples, which have feedback, and its generator against the discriminators.

An example is a listener's reply that the speaker and then the listener answered: the speaker's turn is the feedback.
First the generator is trained alone, like the other networks. Then (`--part discriminators`) the discriminators learn
to tell its replies from people's, and after that they and the generator take turns: with each batch one update of the
discriminators and five of the generator,

    loss of the generator = loss of words and emotion - D_semantic(made) - D_emotional(made)

Made replies are the distributions over words that the generator has after each human word (teacher forcing). Contexts
are given to the discriminators as they are: no gradient goes through them.
"""

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from generation.errors import TrainingRefused
from generation.networks.checkpoint import load_checkpoint, save_checkpoint
from generation.networks.discriminators import Discriminator, last_states
from generation.networks.empathy_examples import EmpathyExamples
from generation.networks.empathy_objective import EmpathyObjective, score_reply, warm_rate
from generation.networks.empathy_words import PAD, encode_words
from generation.networks.empdg import DISCRIMINATORS, Discriminators, Empdg, EmpdgPrediction, build_discriminators
from generation.networks.families import option_of
from generation.networks.pair_examples import pad_rows
from generation.networks.preparing import config_for, pair_examples
from generation.training.context_pairs import Pair
from generation.training.objective import IGNORED, Batch, Goal, Objective, Scored, Update
from generation.training.options import TrainingSettings
from generation.training.ordering import Indices

if TYPE_CHECKING:
    from generation.networks.empdg import EmpdgFamily
    from generation.training.plan import Plan, Say

GENERATOR_UPDATES = 5  # with each batch
DISCRIMINATOR_RATE = 1e-4
GENERATOR = "generator"


class FeedbackExamples(EmpathyExamples):
    def __init__(self, pairs: Iterable[Pair], tokenizer: Tokenizer, max_tokens: int) -> None:
        for_context, for_feedback = tee(pair for pair in pairs if len(pair.turns) >= 3)
        super().__init__(map(_answered_reply, for_context), tokenizer, max_tokens)
        ids, ends = array("i"), array("q", [0])
        for pair in for_feedback:
            ids.extend(encode_words(tokenizer, pair.turns[-1], max_tokens)[1:])  # without SOS
            ends.append(len(ids))
        self._feedback_ids, self._feedback_ends = np.asarray(ids), np.asarray(ends)

    def rows(self, indices: Indices) -> dict[str, npt.NDArray[np.int64]]:
        return super().rows(indices) | {"feedback_ids": pad_rows(self._feedback_ids, self._feedback_ends, indices, PAD)}

    def fingerprint(self) -> str:
        return hashlib.sha256(super().fingerprint().encode() + self._feedback_ids.tobytes()).hexdigest()


def _answered_reply(pair: Pair) -> Pair:
    """Of a context, its last reply and the feedback to that, return the context and the reply."""
    return replace(pair, turns=pair.turns[:-2], labels=pair.labels[:-2], reply=pair.turns[-2], label=pair.labels[-2])


class Opponents(nn.Module):
    """A generator and its discriminators, as they are trained."""

    def __init__(self, generator: Empdg, discriminators: Discriminators) -> None:
        super().__init__()
        self.generator, self.discriminators = generator, discriminators

    def forward(self, batch: Batch, *, trains_discriminators: bool) -> tuple[EmpdgPrediction, Tensor]:
        """Return what the generator predicts, and [B]: the discriminators' losses, or how well they judge the made
        replies."""
        source = batch["source_ids"], batch["source_speakers"], batch["target_ids"]
        with torch.set_grad_enabled(not trains_discriminators and torch.is_grad_enabled()):
            predicted: EmpdgPrediction = self.generator(*source)
        is_word = (batch["targets"] != IGNORED).float()
        every = torch.ones_like(self.generator.is_emotional)
        asked = [(self.discriminators.semantic, every, predicted.context)]
        if self.discriminators.emotional is not None and predicted.emotion_context is not None:
            asked.append((self.discriminators.emotional, self.generator.is_emotional, predicted.emotion_context))
        found = [
            _ask(discriminator, read_words, context.detach(), predicted, batch, is_word, trains_discriminators)
            for discriminator, read_words, context in asked
        ]
        return predicted, torch.stack(found).sum(dim=0)


def _ask(
    discriminator: Discriminator, read_words: Tensor, context: Tensor, predicted: EmpdgPrediction, batch: Batch,
    is_word: Tensor, trains_discriminators: bool,
) -> Tensor:  # fmt: skip
    """Return a discriminator's loss, or how well it judges the made replies: [B]. It reads only `read_words` [V]."""
    human_ids, feedback_ids = batch["targets"].clamp_min(0), batch["feedback_ids"]
    lengths = is_word.sum(dim=1).long()
    made = discriminator.read(predicted.log_probabilities.exp() * read_words * is_word[:, :, None])
    is_feedback = (feedback_ids != PAD).float()
    heard = discriminator.read_ids(feedback_ids, is_feedback * read_words[feedback_ids])
    feedback = last_states(heard, is_feedback.sum(dim=1).long())
    if not trains_discriminators:
        return discriminator.judge(made, lengths, feedback, context)
    human = discriminator.read_ids(human_ids, is_word * read_words[human_ids])
    return discriminator.loss(made, human, lengths, feedback, context)


def score_discriminators(network: nn.Module, batch: Batch) -> Scored:
    predicted, losses = network(batch, trains_discriminators=True)
    scored = _score_words(predicted, batch)
    return replace(scored, minimised=losses)


def score_against_discriminators(network: nn.Module, batch: Batch, weight: float = 1.0) -> Scored:
    """Compute the generator's loss; `weight` is that of the discriminators' judgements."""
    predicted, judged = network(batch, trains_discriminators=False)
    scored = _score_words(predicted, batch)
    return replace(scored, minimised=scored.minimised - weight * judged)


def score_generator(network: nn.Module, batch: Batch) -> Scored:
    """Score words and emotion only, for validation."""
    generator: Empdg = network.generator  # type: ignore[assignment]
    return _score_words(generator(batch["source_ids"], batch["source_speakers"], batch["target_ids"]), batch)


def _score_words(predicted: EmpdgPrediction, batch: Batch) -> Scored:
    return score_reply(predicted.log_probabilities, batch["targets"], predicted.emotion_logits, batch["emotions"])


MOST_ACCURATE = Goal("higher accuracy of emotions", lambda found: -found.accuracies[1])


@dataclass(frozen=True)
class InTurns(EmpathyObjective):
    """Until the first validation, the discriminators learn alone. The generator's schedule begins anew."""

    network: Opponents

    def optimisers(self, settings: TrainingSettings) -> Mapping[str, torch.optim.Optimizer]:
        return {
            GENERATOR: self.adam(self.network.generator, settings),
            DISCRIMINATORS: torch.optim.Adam(self.network.discriminators.parameters(), lr=DISCRIMINATOR_RATE),
        }

    def plan_step(self, step: int, settings: TrainingSettings) -> Sequence[Update]:
        updates = [Update(score_discriminators, DISCRIMINATORS, DISCRIMINATOR_RATE, is_mean_over_examples=True)]
        if step >= self.first_validation:
            rate = warm_rate(step, settings)
            own = Update(score_against_discriminators, GENERATOR, rate, is_mean_over_examples=True)
            updates += [own] * GENERATOR_UPDATES
        return updates


def prepare_discriminators(family: "EmpdgFamily", plan: "Plan", say: "Say") -> Objective:
    if not plan.start:
        raise TrainingRefused("Discriminators judge a trained generator; name its checkpoint: --from FOLDER.")
    family.check_options(plan)
    start = load_checkpoint(Path(plan.start))
    config = config_for(family, plan, start, start.tokenizer)
    training, validation = pair_examples(plan, start.tokenizer, config, say, FeedbackExamples, needs_labels=True)
    torch.manual_seed(plan.seed)
    both = Opponents(start.network, build_discriminators(config))
    steps = option_of(plan, "discriminator_steps")

    def save() -> None:
        save_checkpoint(plan.out, both.generator, start.tokenizer, {DISCRIMINATORS: both.discriminators})

    return InTurns(
        both, training, validation, score_generator, save, goal=MOST_ACCURATE, first_validation=steps,
        identity={"sizes": asdict(config), "discriminator_steps": steps},
    )  # fmt: skip
