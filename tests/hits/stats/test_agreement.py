"""Agreement: by hand, Krippendorff's own example, against `krippendorff` and statsmodels, and coverage."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa

from hits.stats import Effects, Estimate, Interval, Undefined, agreement, code_ratings
from hits.stats.rater_agreement import krippendorff_alpha
from simulated_crowd.drawing import Drawing, StudySize, draw_frames
from simulated_crowd.truths import Truth
from tests.hits.stats.small_frames import drawn_frame, ratings_of

# Krippendorff (2011), section C: four observers, twelve units, five values; 0 is missing.
OBSERVED = """
1 2 3 3 2 1 4 1 2 0 0 0
1 2 3 3 2 2 4 1 2 5 0 3
0 3 3 3 2 3 4 2 2 5 1 0
1 2 3 3 2 4 4 1 2 5 1 0
"""


def value(found: Estimate | Undefined) -> float:
    assert isinstance(found, Estimate), found
    return found.value


def test_three_replies_by_hand() -> None:
    found = agreement(ratings_of({1: {"v": "g", "w": "g"}, 2: {"v": "g", "w": "o"}, 3: {"v": "o", "w": "o"}}))

    assert value(found.alpha_nominal) == pytest.approx(4 / 9)
    assert value(found.raw) == pytest.approx(2 / 3)
    assert value(found.fleiss_kappa) == pytest.approx(1 / 3)


def test_five_replies_by_three_workers_are_the_known_answer() -> None:
    """Fleiss' kappa .2905, nominal alpha .3378."""
    counts = [[3, 0, 0], [2, 0, 1], [0, 3, 0], [1, 1, 1], [0, 1, 2]]
    said = ["".join(letter * times for letter, times in zip("gob", row, strict=True)) for row in counts]

    found = agreement(ratings_of({u: dict(zip("vwx", word, strict=True)) for u, word in enumerate(said)}))

    assert value(found.fleiss_kappa) == pytest.approx(0.2905, abs=5e-5)
    assert value(found.alpha_nominal) == pytest.approx(0.3378, abs=5e-5)


def test_krippendorffs_published_example() -> None:
    rows = [[int(cell) for cell in line.split()] for line in OBSERVED.strip().splitlines()]
    cells = [(w, u, "ED", "A", v, v) for w, row in enumerate(rows) for u, v in enumerate(row) if v]
    frame = pd.DataFrame(cells, columns=["worker", "dialog", "dataset", "generator", "value", "score"])

    found = agreement(code_ratings(frame))

    assert value(found.alpha_nominal) == pytest.approx(0.743, abs=5e-4)
    assert value(found.alpha_ordinal) == pytest.approx(0.815, abs=5e-4)
    assert value(found.alpha_interval) == pytest.approx(0.849, abs=5e-4)
    assert (found.replies, found.ratings) == (11, 40)


def test_the_same_numbers_as_krippendorff_and_statsmodels() -> None:
    frame = drawn_frame(seed=5)
    ratings = code_ratings(frame).by_generators
    counts = pd.crosstab(ratings.reply, ratings.value).to_numpy()

    found = agreement(ratings)

    for level, ours in (
        ("nominal", found.alpha_nominal),
        ("ordinal", found.alpha_ordinal),
        ("interval", found.alpha_interval),
    ):
        theirs = krippendorff.alpha(value_counts=counts[:, ::-1], value_domain=[1, 2, 3], level_of_measurement=level)
        assert value(ours) == pytest.approx(theirs, abs=1e-12)
        assert krippendorff_alpha(counts, ratings.scores, level) == pytest.approx(theirs, abs=1e-12)
    assert value(found.fleiss_kappa) == pytest.approx(fleiss_kappa(counts))


@pytest.mark.parametrize("field", ["alpha_nominal", "alpha_ordinal", "alpha_interval", "fleiss_kappa", "raw"])
def test_influences_are_what_leaving_out_a_dialog_changes(field: str) -> None:
    """The interval's width, against the jackknife over dialogs where nobody rates two of them."""
    rng = np.random.default_rng(1)
    dialogs = {
        number: {f"{number}.{worker}": "gob"[min(2, max(0, level + rng.integers(-1, 2)))] for worker in range(3)}
        for number, level in enumerate(rng.integers(0, 3, 80))
    }
    found = getattr(agreement(ratings_of(dialogs)), field)
    without = [
        value(getattr(agreement(ratings_of({k: v for k, v in dialogs.items() if k != out})), field)) for out in dialogs
    ]

    deviation = np.sqrt(79 / 80 * ((np.array(without) - np.mean(without)) ** 2).sum())
    assert isinstance(found.interval, Interval)
    assert (found.interval.high - found.interval.low) / (2 * 1.99) == pytest.approx(deviation, rel=0.08)


def test_undefined_says_why() -> None:
    alike = agreement(ratings_of({1: {"v": "g", "w": "g"}, 2: {"v": "g", "w": "g"}}))
    single = agreement(ratings_of({1: {"v": "g"}, 2: {"w": "b"}}))

    assert alike.alpha_ordinal == Undefined("all ratings are the same, so nothing can be said about chance")
    assert value(alike.raw) == 1
    assert single.raw == Undefined("no reply has ratings by two workers")


def test_intervals_hold_the_truth_where_workers_habits_decide() -> None:
    """Two raters of each reply, and one value is rare: where a pair was divided, 85 % held the truth."""
    truth = Truth(generators=dict.fromkeys("ABC", (0.02, 0.30, 0.68)), effects=Effects(taste=0.05))

    def raw(dialogs: int, workers: int, seed: int) -> Estimate:
        size = StudySize({"ED": dialogs}, "ABC", workers, raters=2, checkpoints=0)
        found = agreement(code_ratings(draw_frames(Drawing(size, truth), seed).ratings).cards).raw
        assert isinstance(found, Estimate)
        return found

    true = raw(20_000, 4_000, seed=999).value
    intervals = [raw(150, 30, seed).interval for seed in range(100)]

    held = [isinstance(one, Interval) and one.low <= true <= one.high for one in intervals]
    assert sum(held) >= 91


def test_two_raters_cannot_tell_how_much_others_would_agree() -> None:
    found = agreement(ratings_of({reply: {"v": "g", "w": "gob"[reply % 3]} for reply in range(30)}))

    reason = Undefined("from so few raters, nobody can tell how much others would agree")
    assert value(found.raw) == pytest.approx(1 / 3)
    for one in (found.raw, found.fleiss_kappa, found.alpha_nominal, found.alpha_ordinal, found.alpha_interval):
        assert isinstance(one, Estimate)
        assert one.interval == reason
