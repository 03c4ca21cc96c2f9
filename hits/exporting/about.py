"""Writes and reads bundle.json, which marks a folder as a bundle and says what is needed to read its ratings."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evalplatform.errors import EvalPlatformError
from hits.analysing import Origin, Pricing, Progress
from hits.screening import Funnel
from hits.stats import CriterionScale, Plan

FILE = "bundle.json"
FORMAT = 1


class About(BaseModel):
    """The content of bundle.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    study: str
    marketplace: str
    offerings: list[str] = []  # where several offerings are put together: their marketplaces, a column of the ratings
    manifest_sha256: str
    card_order_secret: str = ""  # empty as long as HITs of the study are on a marketplace: it is withheld until then
    pseudonyms: str  # the name that bundles with the same pseudonyms share; empty for this study's own
    origin: dict[str, int]  # how many assignments came from people, from a simulation and from a rehearsal
    warning: str  # what every file says that shows results; empty if all assignments came from people
    ratings: int
    repeats: int = 0  # rows of repeats.csv, which is there if dialogs came twice
    datasets: list[str]
    generators: list[str]
    criteria: dict[str, CriterionScale]  # what workers were asked about, each with its values, the best first
    rules: list[str]  # screening rules, each with a column in the ratings
    metrics: dict[str, str] = {}  # automatic metrics of the replies, each with a column; and their versions
    is_screened: bool
    is_exploratory: bool  # True if other rules were used than the study was frozen with
    funnel: Funnel | None
    seed: int  # of the results
    plan: Plan = Plan()  # the outcome and the primary pairs of the frozen design
    equal_within: float = 0.0
    progress: Progress = Progress()  # interim results have confidence sequences and no verdicts
    # By the HIT's number: models that had been dropped before it was published, and that its page left out.
    dropped_models: dict[int, list[str]] = {}
    pricing: Pricing | None = None  # what more dialogs would take
    software: dict[str, str]
    columns: dict[str, str]

    def as_json(self) -> str:
        return self.model_dump_json(indent=1) + "\n"


def count_by_origin(origin: Origin) -> dict[str, int]:
    return {"people": origin.people, "simulation": origin.simulation, "rehearsal": origin.rehearsal}


def read_about(folder: Path) -> About:
    file = folder / FILE
    try:
        return About.model_validate_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise EvalPlatformError(f"{folder} is no bundle: it has no {FILE} that can be read.") from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise EvalPlatformError(f"{file} is not as export_study writes it: {_first_problem(error)}") from error


def is_bundle(folder: Path) -> bool:
    return (folder / FILE).is_file()


def _first_problem(error: Any) -> str:
    return str(error.errors()[0]["msg"]) if isinstance(error, ValidationError) else str(error)
