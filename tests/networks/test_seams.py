"""What a new family may rely on: decoders that give plain numbers, objectives with their own optimisers and phases."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from generation.decoding.beam import beam_search
from generation.decoding.decoder import PlainNextTokens
from generation.decoding.decoding_settings import DIVERSE_BEAM, GREEDY, DecodingSettings
from generation.decoding.drawn import sample_replies
from generation.networks.transformer import TransformerDecoder
from generation.training.loop import Trainer
from generation.training.objective import Batch, Goal, Objective, Score, Scored, Update
from generation.training.options import TrainingSettings
from generation.training.ordering import Indices
from generation.training.state import STATE, RunState
from tests.networks.small_networks import begin, small_network, some_contexts
from tests.networks.training_runs import ALONE, Killed, Listener, assert_same_tensors


class PlainDecoder:
    """Another decoder's replies, with all log-probabilities as a tensor."""

    def __init__(self, inner: TransformerDecoder) -> None:
        self.first_token, self.end_token, self._inner = inner.first_token, inner.end_token, inner

    @property
    def dialogs(self) -> int:
        return self._inner.dialogs

    @property
    def device(self) -> torch.device:
        return self._inner.device

    def step(self, tokens: Tensor) -> PlainNextTokens:
        scores = self._inner.step(tokens).log_probabilities().clone()
        return PlainNextTokens(scores.view(*tokens.shape, -1))

    def keep_beams(self, parents: Tensor) -> None:
        self._inner.keep_beams(parents)

    def keep_dialogs(self, kept: Tensor) -> None:
        self._inner.keep_dialogs(kept)


@pytest.mark.parametrize(
    "settings",
    [
        DecodingSettings(beams=6, max_tokens=20, no_repeat_ngram=2),
        DecodingSettings(DIVERSE_BEAM, beams=6, groups=3, max_tokens=12),
    ],
    ids=lambda settings: settings.method,
)
def test_plain_numbers_and_the_fast_projection_find_the_same_beams(settings: DecodingSettings) -> None:
    network, contexts = small_network(), some_contexts(12)

    fast = beam_search(begin(network, contexts), settings)
    plain = beam_search(PlainDecoder(begin(network, contexts)), settings)

    assert [[one.tokens for one in found] for found in plain] == [[one.tokens for one in found] for found in fast]
    greedy = DecodingSettings(GREEDY, max_tokens=20)
    assert sample_replies(PlainDecoder(begin(network, contexts)), greedy, [0] * 12) == sample_replies(
        begin(network, contexts), greedy, [0] * 12
    )


class Numbers:
    """Pairs of numbers, x and 3 x."""

    sort_keys = np.arange(24)
    target_counts = np.ones(24, dtype=np.int64)

    def __len__(self) -> int:
        return 24

    def batch(self, indices: Indices, device: torch.device) -> Batch:
        x = torch.from_numpy(indices / 24).float()[:, None]
        return {"x": x, "y": 3 * x}

    def fingerprint(self) -> str:
        return "numbers"


class TwoNetworks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(1, 1), nn.Linear(1, 1)

    def forward(self, x: Tensor, which: str) -> Tensor:
        found: Tensor = getattr(self, which)(x)
        return found


class InTurns(Objective):
    """Every third step trains first the other network, with its own optimiser and schedule, and then this one twice."""

    def optimisers(self, settings: TrainingSettings) -> Mapping[str, torch.optim.Optimizer]:
        assert isinstance(self.network, TwoNetworks)
        return {
            "one": torch.optim.Adamax(self.network.one.parameters()),
            "other": torch.optim.SGD(self.network.other.parameters(), momentum=0.9),
        }

    def plan_step(self, step: int, settings: TrainingSettings) -> Sequence[Update]:
        rate = settings.learning_rate / (step + 1) ** 0.5
        return [
            Update(squared_error_of(which), which, rate)
            for which in (("other", "one", "one") if step % 3 == 2 else ("one",))
        ]


def squared_error_of(which: str) -> Score:
    def score(network: nn.Module, batch: Batch) -> Scored:
        return Scored((network(batch["x"], which) - batch["y"]).square()[:, 0])

    return score


def train_in_turns(folder: Path, listener: Listener, **given: Any) -> tuple[RunState, TwoNetworks]:
    torch.manual_seed(0)
    network = TwoNetworks()
    folder.mkdir(exist_ok=True)
    objective = InTurns(network, Numbers(), Numbers(), squared_error_of("one"), save=lambda: None, **given)
    settings = TrainingSettings(learning_rate=0.1, batch_size=4, max_steps=30, validate_every=10, save_every=4)
    return Trainer(objective, settings, ALONE, folder, listener).run(), network


def test_an_objective_with_optimisers_and_turns_of_its_own_resumes_to_the_same_numbers(tmp_path: Path) -> None:
    state, network = train_in_turns(tmp_path / "whole", Listener())
    with pytest.raises(Killed):
        train_in_turns(tmp_path / "killed", Listener(kill_at=14))
    train_in_turns(tmp_path / "killed", Listener())

    assert_same_tensors(tmp_path / "killed" / STATE, tmp_path / "whole" / STATE)
    assert state.history[-1]["validation_loss"] < state.history[0]["validation_loss"]
    other, untrained = network.other.weight, TwoNetworks().other.weight
    assert not torch.equal(other, untrained)


def test_an_objective_may_have_a_goal_of_its_own_and_say_when_it_is_first_judged(tmp_path: Path) -> None:
    highest = Goal("higher validation loss", lambda found: -found.loss)

    state, _ = train_in_turns(tmp_path / "run", Listener(), goal=highest, first_validation=15)

    assert [(entry["step"], entry["is_best"]) for entry in state.history] == [(20, True), (30, False)]
    assert state.best_step == 20
