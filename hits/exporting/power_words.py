"""Says which difference a study of this size can find, as it was designed and as it was carried out."""

from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.exporting.bundle_facts import Sources
from hits.exporting.reached_power import PowerFacts, PowerOfSize


def describe_power(sources: Sources) -> Iterator[str]:
    power = sources.facts.power
    if power.planned is None:
        yield f"No power analysis was made: {power.problem}."
        return
    yield (
        f"No target power was recorded with the design. By simulation with {what_decides(power)} (ordinal probit model "
        f"with crossed effects, {power.simulations:,} simulated studies; {100 * power.taste:g}% of the latent variance "
        f"for workers' tastes, {count_of(power.pairs, 'primary comparison')}), the study as designed "
        f"({_size(power.planned, power)}) {_finds(power.planned, power)}."
    )
    if power.reached is not None:
        yield f"As carried out ({_size(power.reached, power)}), it {_finds(power.reached, power)}."


def what_decides(power: PowerFacts) -> str:
    return "the confidence sequence that decides, at the end" if power.is_by_sequence else "the test that decides"


def _size(of: PowerOfSize, power: PowerFacts) -> str:
    is_compared = power.measure == "wins minus losses"
    dialogs = count_of(of.dialogs, "dialog")
    ratings = count_of(of.ratings_per_dialog, "comparison" if is_compared else "rating")
    shown = f"{dialogs} for each pair of models, {ratings} each" if is_compared else f"{dialogs}, {ratings} per reply"
    return f"{shown}, about {count_of(of.effective_workers, 'equally busy worker')}"


def _finds(of: PowerOfSize, power: PowerFacts) -> str:
    chance = f"with a power of {100 * power.power:g}%"
    if of.detectable is None:
        return f"would not detect even the largest possible difference between two models {chance}"
    points = power.points * of.detectable
    found = f"{points:.2f} points in the mean score" if power.measure == "mean score" else _percentage(points, power)
    return f"would detect a difference of {found} {chance}"


def _percentage(points: float, power: PowerFacts) -> str:
    what = "wins minus losses" if power.measure == "wins minus losses" else f"the {power.measure}"
    return f"{points:.1f} percentage points in {what}"
