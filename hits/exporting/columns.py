"""Defines the columns of a bundle's ratings, and makes its rows.

There is one row for each reply that was judged in an assignment, in the order of the assignments, of the dialogs in
them, and of the cards. A card that stands for several models has a row for each.
"""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from generation.metrics.naming import title_of
from hits.analysing import METRIC_PREFIX
from hits.models.design import StudyDesign
from hits.protocols import protocol_of
from hits.screening import EXCLUDED_BY, FOURTH_VOTE, kept_mask, rules_in

# For each name, the column of the ratings frame that it comes from, and what a reader of the bundle learns about it.
COLUMNS = {
    "assignment": ("submission", "number of the assignment, from 1: one worker's work on one HIT"),
    "worker": ("worker", "a pseudonym, made for this bundle"),
    "hit": ("hit", "number of the HIT, from 0; the pages show it from 1"),
    "block": ("block", "number of the set of dialogs that the HIT has; HITs with the same dialogs share it"),
    "wave": ("wave", "number of the wave in which the HIT was published, from 1"),
    "dataset": ("dataset", "the dialog's dataset"),
    "dialog": ("external_id", "the dialog's id in its dataset"),
    "emotion": ("emotion", "the dialog's emotion in its dataset; empty where it has none"),
    "turns": ("turns", "how many turns the dialog has"),
    "position": ("position", "position of the dialog in the HIT, from 0"),
    "is_checkpoint": ("is_checkpoint", "whether a human reply was hidden among the dialog's cards"),
    "card": ("card", "number of the card in the dialog, from 0; identical replies are one card"),
    "place": ("place", "where the card stood on the worker's page, from 0"),
    "is_first_of_card": ("is_first_of_card", "false for further models of a card that has a row already"),
    "generator": ("generator", "the model; empty for the human reply"),
    "is_human": ("is_gold", "whether it is the human reply"),
    "opponent": ("opponent", "the model whose reply it was compared with; empty where nothing was compared"),
    "criterion": ("criterion", "what was asked about"),
    "value": ("value", "what the worker said of the reply; bundle.json has each criterion's values, best first"),
    "score": ("score", "the value as a number, the highest for the best"),
    "label": ("label", "the reply's predicted emotion or intent; empty where there is none"),
    "active_ms": (
        "active_ms",
        "how long the worker looked at the dialog, in ms, bounded by the clocks; 0 if not measured",
    ),
    "hidden_ms": ("hidden_ms", "how long it stood open in a hidden tab, in ms, bounded likewise"),
    "submitted_at": ("submitted_at", "when the assignment was handed in, in UTC"),
    "origin": ("origin", "where the assignment came from: people, simulation or rehearsal"),
    "is_kept": ("is_kept", "whether it counts in the results: no screening rule leaves it out"),
}
# Only where several offerings are put together.
OFFERING_COLUMN = {"offering": "where the assignment was done: the marketplace of the offering"}
TURNED = "is_turned"
# Only in studies of pairs, and the first one only where the design asks for fourth votes.
COLUMNS_OF_PAIRS = {
    FOURTH_VOTE: "whether the HIT asked for fourth votes on items whose three votes differ: it counts in verdicts only",
    TURNED: "whether the two cards changed sides, so that the worker saw each model on each side equally often",
}
RULE_COLUMN = "whether the screening rule {rule} leaves it out, alone or with other rules"
METRIC_COLUMN = "an automatic metric of the reply, {title}; empty where there is none"


def columns_of_pairs(design: StudyDesign) -> list[str]:
    """Return which of COLUMNS_OF_PAIRS a study's ratings have."""
    protocol = protocol_of(design)
    has = {FOURTH_VOTE: protocol.verdict_rule == "fourth vote", TURNED: protocol.balances_sides}
    return [name for name in COLUMNS_OF_PAIRS if has[name]]


def described(
    rules: Sequence[str], metrics: Sequence[str], has_offerings: bool = False, of_pairs: Collection[str] = ()
) -> dict[str, str]:
    """Return every column with its description, in the order of the files. `of_pairs` names those of COLUMNS_OF_PAIRS
    that there are."""
    found = {name: text for name, (_, text) in COLUMNS.items()} | (OFFERING_COLUMN if has_offerings else {})
    found |= {name: text for name, text in COLUMNS_OF_PAIRS.items() if name in of_pairs}
    found |= {f"{EXCLUDED_BY}{rule}": RULE_COLUMN.format(rule=rule) for rule in rules}
    return found | {f"{METRIC_PREFIX}{name}": METRIC_COLUMN.format(title=title_of(name)) for name in metrics}


def bundle_rows(
    frame: pd.DataFrame, keys: np.ndarray[tuple[int], np.dtype[np.int64]], offering: str = "", start: int = 0
) -> pd.DataFrame:
    """Make a bundle's rows from a frame with `excluded_by_RULE` and `metric_NAME` columns. `keys` has the database ids
    of all submissions in order; a row's number is its index there, since ids would differ on another machine. Where
    several offerings are put together, `offering` names the rows' own, and `start` counts the submissions before."""
    names = [f"{EXCLUDED_BY}{rule}" for rule in rules_in(frame)]
    numbers = np.searchsorted(keys, frame["submission"].to_numpy()) + 1 + start
    times = frame["submitted_at"].dt.tz_convert(None).to_numpy().astype("datetime64[s]")
    found = {name: frame[source] for name, (source, _) in COLUMNS.items() if source in frame}
    own = {"assignment": numbers, "submitted_at": times, "is_kept": kept_mask(frame)}
    ordered = {name: own.get(name, found.get(name)) for name in COLUMNS}
    metrics = [str(name) for name in frame.columns if str(name).startswith(METRIC_PREFIX)]
    if offering:
        ordered["offering"] = pd.Categorical([offering] * len(frame))
    ordered |= {name: frame[name] for name in COLUMNS_OF_PAIRS if name in frame}
    return pd.DataFrame(ordered | {name: frame[name] for name in (*names, *metrics)})
