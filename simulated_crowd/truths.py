"""Read the truth about replies: which share of careful ratings gives each level of the scale, and what is the default.

A truth is a TOML file; truths/table5.toml is one of the two that we provide. What it does not mention has defaults.
"""

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from evalplatform.errors import EvalPlatformError
from hits.stats import Effects

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


Shares = Annotated[tuple[float, ...], AfterValidator(_check_shares)]


class DatasetTruth(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    default: Shares | None = None
    human: Shares | None = None
    generators: dict[str, Shares] = {}


class Truth(DatasetTruth):
    default: Shares = (0.3, 0.3, 0.4)
    human: Shares = (0.7, 0.2, 0.1)
    datasets: dict[str, DatasetTruth] = {}
    effects: Annotated[Effects, BeforeValidator(_make_effects)] = Effects()

    def shares(self, dataset: str, writer: str) -> tuple[float, ...]:
        """Return the shares of a generator's replies to a dataset. A value for both comes before one for the
        generator."""
        here = self.datasets.get(dataset, DatasetTruth())
        if writer == HUMAN:
            return here.human or self.human
        return here.generators.get(writer) or self.generators.get(writer) or here.default or self.default

    def cuts(self, dataset: str, writers: Sequence[str], level_count: int) -> list[float]:
        """Return the cuts of a card. A card of several generators is one reply, so it is as good as they are on
        average.
        """
        columns = zip(*(cuts_of(self.shares(dataset, writer), level_count) for writer in writers), strict=True)
        return [sum(column) / len(writers) for column in columns]

    def unmentioned(self, datasets: Iterable[str], generators: Iterable[str]) -> list[str]:
        """Return the generators for which the truth has no value, at least for some of these datasets."""
        names = list(datasets)

        def is_mentioned(generator: str) -> bool:
            return all(generator in self.datasets.get(name, DatasetTruth()).generators for name in names)

        return [name for name in generators if name not in self.generators and not is_mentioned(name)]


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
