"""Read the truth about replies: which share of careful ratings gives each level of the scale, and what is the default.

A truth is a TOML file; truths/table5.toml is one of those that we provide. What it does not mention has defaults. Of
points, a mean says enough (simulated_crowd.mean_shares). Criteria may differ, and pairs may have a truth of their own.
"""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from evalplatform.errors import EvalPlatformError
from hits.stats import Effects
from simulated_crowd.mean_shares import shares_of_mean

PRESETS = {path.stem: path for path in sorted((Path(__file__).parent / "truths").glob("*.toml"))}
HUMAN = ""  # the writer of human replies; no generator has this name


def _check_shares(values: tuple[float, ...]) -> tuple[float, ...]:
    total = sum(values)
    if len(values) < 2 or not all(value >= 0 for value in values) or not abs(total - 1) <= 0.01:
        raise ValueError("must be shares of the levels, best first, which add up to 1, like [0.3, 0.3, 0.4]")
    return tuple(value / total for value in values)


def _make_effects(values: Any) -> Any:
    if isinstance(values, dict):
        try:
            return Effects(**values)
        except TypeError:
            raise ValueError("must be shares of the variance named dialog, reply, worker and taste") from None
    return values


def _from_mean(value: Any) -> Any:
    return shares_of_mean(value) if isinstance(value, int | float) else value


Shares = Annotated[tuple[float, ...], BeforeValidator(_from_mean), AfterValidator(_check_shares)]


class DatasetTruth(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    default: Shares | None = None
    human: Shares | None = None
    generators: dict[str, Shares] = {}


class Truth(DatasetTruth):
    default: Shares = (0.3, 0.3, 0.4)
    human: Shares = (0.7, 0.2, 0.1)
    datasets: dict[str, DatasetTruth] = {}
    criteria: dict[str, DatasetTruth] = {}  # what is said here of a criterion comes before everything else
    pairs: dict[str, dict[str, Shares]] = {}  # how often the first wins, ties and loses against the second
    effects: Annotated[Effects, BeforeValidator(_make_effects)] = Effects()

    def shares(self, dataset: str, writer: str, criterion: str = "") -> tuple[float, ...]:
        """Return the shares of a generator's replies to a dataset. A value for both comes before one for the
        generator, and one for the criterion before both."""
        asked, here = self.criteria.get(criterion, DatasetTruth()), self.datasets.get(dataset, DatasetTruth())
        if writer == HUMAN:
            return asked.human or here.human or self.human
        if found := asked.generators.get(writer) or asked.default:
            return found
        return here.generators.get(writer) or self.generators.get(writer) or here.default or self.default

    def shares_of_pair(self, first: str, second: str) -> tuple[float, ...] | None:
        """Return how often the first wins, ties and loses; None if the truth says nothing of the two."""
        if found := self.pairs.get(first, {}).get(second):
            return found
        turned = self.pairs.get(second, {}).get(first)
        return tuple(reversed(turned)) if turned else None

    def cuts(self, dataset: str, writers: Sequence[str], level_count: int, criterion: str = "") -> list[float]:
        """Return the cuts of a card. A card of several generators is one reply, so it is as good as they are on
        average.
        """
        columns = zip(
            *(cuts_of(self.shares(dataset, writer, criterion), level_count) for writer in writers), strict=True
        )
        return [sum(column) / len(writers) for column in columns]

    def unmentioned(self, datasets: Iterable[str], generators: Iterable[str]) -> list[str]:
        """Return the generators for which the truth has no value, at least for some of these datasets."""
        names = list(datasets)

        paired = {name for first, others in self.pairs.items() for name in (first, *others)}

        def is_mentioned(generator: str) -> bool:
            if generator in paired or any(generator in one.generators for one in self.criteria.values()):
                return True
            return all(generator in self.datasets.get(name, DatasetTruth()).generators for name in names)

        return [name for name in generators if name not in self.generators and not is_mentioned(name)]


def spaced_truth(generators: Sequence[str], points: float) -> Truth:
    """Return a truth in which each generator is better than the next one by so many points of the best level, which
    the worst level loses."""
    middle = (len(generators) - 1) / 2
    good, okay, bad = Truth().default
    shares = {}
    for index, name in enumerate(generators):
        gain = (middle - index) * points / 100
        shares[name] = (good + gain, okay, bad - gain)
        if min(shares[name]) < 0.02:
            raise EvalPlatformError(
                f"{len(generators)} models that are {points:g} points apart do not fit between none and all: choose "
                "fewer points."
            )
    return Truth(generators=shares)


def cuts_of(shares: Sequence[float], level_count: int) -> list[float]:
    """Return the shares of ratings above each border between levels, from the best down.

    With as many levels as shares, these are the running sums. With another number of levels, each share is spread
    evenly over its part of the scale.
    """
    sums = [0.0]
    for share in shares:
        sums.append(sums[-1] + share)
    cuts = []
    for border in range(1, level_count):
        whole, part = divmod(border * len(shares), level_count)
        rest = part / level_count * shares[whole] if part else 0.0
        cuts.append(min(1.0, sums[whole] + rest))
    return cuts


def read_truth(name: str) -> Truth:
    """Read a truth by the name of one that we provide, or by the path of a file."""
    path = PRESETS.get(name, Path(name))
    try:
        return Truth.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        known = ", ".join(PRESETS)
        raise EvalPlatformError(
            f"{name} is neither the name of a truth ({known}) nor a file that can be read: {error.strerror}."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EvalPlatformError(f"{path.name} is not valid TOML: {error}.") from error
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, one['loc']))}: {one['msg'].removeprefix('Value error, ')}" for one in error.errors()
        )
        raise EvalPlatformError(
            f"{path.name} is not a truth:\n" + "\n".join(f"  {problem}" for problem in problems)
        ) from error
