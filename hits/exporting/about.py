"""bundle.json: what a bundle is about, and what reading its ratings needs. It also marks a folder as a bundle."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from evalplatform.errors import EvalPlatformError
from hits.screening import Funnel

FILE = "bundle.json"
FORMAT = 1


class About(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    study: str
    marketplace: str
    manifest_sha256: str
    card_order_secret: str = ""  # empty while it is withheld: as long as HITs of the study are on a marketplace
    pseudonyms: str  # under which name they were made; empty for this study's own
    ratings: int
    datasets: list[str]
    generators: list[str]
    criteria: dict[str, list[str]]  # what was asked about, each with its values, the best first
    rules: list[str]  # of screening, each with a column in the ratings
    metrics: dict[str, str] = {}  # automatic ones of the replies, each with a column, and their versions
    is_screened: bool
    is_exploratory: bool  # whether other rules were used than the study was frozen with
    funnel: Funnel | None
    seed: int  # of the results
    software: dict[str, str]
    columns: dict[str, str]

    def as_json(self) -> str:
        return self.model_dump_json(indent=1) + "\n"


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
