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
        f"({_size(power.planned)}) {_finds(power.planned, power.power)}."
    )
    if power.reached is not None:
        yield f"As carried out ({_size(power.reached)}), it {_finds(power.reached, power.power)}."


def what_decides(power: PowerFacts) -> str:
    return "the confidence sequence that decides, at the end" if power.is_by_sequence else "the test that decides"


def _size(of: PowerOfSize) -> str:
    return (
        f"{count_of(of.dialogs, 'dialog')}, {count_of(of.ratings_per_dialog, 'rating')} per reply, about "
        f"{count_of(of.effective_workers, 'equally busy worker')}"
    )


def _finds(of: PowerOfSize, power: float) -> str:
    if of.detectable is None:
        return (
            f"would not detect even the largest possible difference between two models with a power of {100 * power:g}%"
        )
    return (
        f"would detect a difference of {100 * of.detectable:.1f} percentage points in the share of the best value with "
        f"a power of {100 * power:g}%"
    )
