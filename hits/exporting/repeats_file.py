"""Writes and reads repeats.csv, what workers said twice, and compares it with a bundle's ratings.

The first answer is a rating and stands among the ratings as well; the second one is in this file only. The file is
there if the study has repeats.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from evalplatform.errors import EvalPlatformError
from evalplatform.spreadsheet_cells import cell_of, text_of
from hits.frames import confirmed_submissions
from hits.models import Offering
from hits.screening import EXCLUDED_BY, rules_in

FILE = "repeats.csv"
NUMBERS = ("assignment", "hit", "position", "card")
TEXTS = ("worker", "dataset", "dialog", "criterion", "generator", "opponent", "first", "again", "origin")
KEY = ["submission", "dataset", "external_id", "card", "criterion"]


def numbered(twice: pd.DataFrame, offerings: Sequence[Offering]) -> pd.DataFrame:
    """Number the submissions as in the ratings: from 1, one offering after the other."""
    keys = [pk for one in offerings for pk in confirmed_submissions(one).order_by("pk").values_list("pk", flat=True)]
    number = {pk: place for place, pk in enumerate(keys, 1)}
    return twice.assign(submission=[number[pk] for pk in twice["submission"]])


def write_repeats(folder: Path, twice: pd.DataFrame) -> None:
    """Write what was said twice, with a column for each rule; no file if nothing was."""
    if twice.empty:
        return
    frame = twice.rename(columns={"submission": "assignment", "external_id": "dialog"})
    for name in TEXTS:
        frame[name] = frame[name].map(lambda text: cell_of(str(text)))
    rules = [f"{EXCLUDED_BY}{rule}" for rule in rules_in(frame)]
    columns = ["assignment", "worker", "hit", "dataset", "dialog", "position", "card", *TEXTS[3:], *rules]
    text = frame[columns].to_csv(index=False, lineterminator="\n")
    (folder / FILE).write_text(text, encoding="utf-8", newline="\n")


def read_repeats(folder: Path) -> pd.DataFrame:
    """Read what was said twice; it is empty if the bundle has no such file."""
    file = folder / FILE
    if not file.is_file():
        return pd.DataFrame()
    try:
        frame = pd.read_csv(file, dtype=dict.fromkeys(TEXTS, str), keep_default_na=False)
        for name in TEXTS:
            frame[name] = frame[name].map(text_of)
        frame[list(NUMBERS)] = frame[list(NUMBERS)].astype("int64")
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise EvalPlatformError(f"{FILE} can't be read: {str(error).splitlines()[0]}") from error
    return frame.rename(columns={"assignment": "submission", "dialog": "external_id"})


def different_first_answers(twice: pd.DataFrame, ratings: pd.DataFrame, name: str) -> Iterator[str]:
    """Say whether the first answers are those of the ratings, and left out by the same rules."""
    theirs = ratings.rename(columns={"assignment": "submission"}).drop_duplicates(KEY)
    theirs = theirs.astype(dict.fromkeys(("dataset", "external_id", "criterion", "value"), str))
    rules = [f"{EXCLUDED_BY}{rule}" for rule in rules_in(ratings)]
    both = twice.merge(theirs[[*KEY, "value", *rules]], on=KEY, how="left", suffixes=("", "_there"))
    if wrong := int((both["first"] != both["value"]).sum()):
        yield f"{FILE} has {wrong:,} first answers that {name} has otherwise, or not at all"
    for rule in rules:
        if rule not in twice or (both[rule] != both[f"{rule}_there"]).any():
            yield f"{FILE} has another {rule} than {name}"
