"""Makes the ratings frame, with one row for each reply that a worker judged in a submission.

Rows are ordered by submission, position and card. A card that stands for several models has a row for each of them,
and for each criterion; `is_first_of_card` picks one of the models. `rating_chunks` yields the same rows in pieces, so
that memory does not grow with the study.

    submission        int64     the Submission's id
    worker            category  a pseudonym (hits.access.pseudonyms)
    hit, block, wave  int32     the HIT's number, its block (HITs with the same dialogs), its wave of publication
    item              int64     the HitItem's id
    dialog            int64     the Dialog's id: the same in all HITs of a block
    dataset           category  in the design's order
    external_id       category  the dialog's id in its dataset
    emotion           category  the dialog's emotion in its dataset; missing where it has none
    turns             int16     how many turns the dialog has
    position          int16     the dialog's position in the HIT, from 0
    is_checkpoint     bool      True if a human reply was hidden among the dialog's cards
    card, place       int16     the card's place in HitItem.cards, and on the worker's page; both from 0
    is_first_of_card  bool      False for further models of the same card
    candidate         int64     the Candidate's id; 0 for the human reply
    generator         category  in the design's order; missing for the human reply
    is_gold           bool      True for the human reply
    opponent          category  in a comparison, the generator whose reply it was compared with, in the design's order;
                                missing where nothing was compared
    criterion         category  what was asked about, in the protocol's order
    value             category  what was said, in the order of the protocol's scale, best first
    score             int8      its score on that scale, higher is better
    active_ms         int64     how long the worker looked at the dialog, bounded by what the clocks allow; 0 if the
                                page did not measure it
    hidden_ms         int64     how long the dialog stood open in a hidden tab, bounded likewise
    submitted_at      datetime  when the submission was handed in, in UTC
    origin            category  where the submission came from: people, simulation or rehearsal
    is_fourth_vote    bool      True in a HIT that asks for fourth votes; only in studies that have them
    is_turned         bool      True if the dialog's two cards changed sides for this worker; only in studies of pairs
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import QuerySet

from generation.models import Candidate
from hits.frames.arrays import Array, category, only_known, places_in, read_columns
from hits.frames.study_tables import NO_CANDIDATE, NameWorker, StudyTables, confirmed_submissions
from hits.models import HitItem, Offering, Study

SUBMISSIONS_AT_ONCE = 500
MOST_POSITIONS = 1000  # more than any HIT has
OF_HIT = ("hit", "block", "wave")
OF_WORK = ("submitted_at", "origin")
OF_ITEM = ("dialog", "dataset", "external_id", "emotion", "turns", "position", "is_checkpoint")


def ratings_frame(offering: Offering, columns: Collection[str] | None = None) -> pd.DataFrame:
    """Return the frame, or some of its columns: of ten million ratings, all of them take a gigabyte."""
    return ratings_from(StudyTables(offering), columns)


def rating_chunks(
    offering: Offering, name_worker: NameWorker | None = None, at_once: int = SUBMISSIONS_AT_ONCE
) -> Iterator[pd.DataFrame]:
    """Yield the ratings frame in pieces of `at_once` submissions, with a further column `label`, the reply's predicted
    emotion or intent. Each piece has its own categories of workers, dialogs and labels."""
    keys = read_columns(confirmed_submissions(offering).order_by("pk").values_list("pk"), submission=np.int64)[
        "submission"
    ]
    for start in range(0, len(keys), at_once):
        part = keys[start : start + at_once]
        tables = StudyTables(offering, name_worker, (int(part[0]), int(part[-1])))
        frame = ratings_from(tables)
        frame["label"] = _labels(tables.hit_items, frame["candidate"].to_numpy())
        yield frame


def reply_labels(study: Study, candidates: Array) -> Any:
    """Return the emotion or intent that was predicted for each of these candidates; missing where there is none."""
    return _labels(HitItem.objects.filter(hit__study=study), candidates)


def _labels(items: QuerySet[HitItem], candidates: Array) -> Any:
    dialogs = items.order_by().values("dialog")
    labelled = Candidate.objects.filter(dialog__in=dialogs).exclude(predicted_label="")
    rows = read_columns(labelled.values_list("pk", "predicted_label"), candidate=np.int64, label=object)
    codes, names = pd.factorize(rows["label"], sort=True)
    found = np.append(codes, -1)[places_in(rows["candidate"], candidates)]
    return category(found, list(names))


def ratings_from(tables: StudyTables, columns: Collection[str] | None = None) -> pd.DataFrame:
    submissions, items, times = tables.submissions, tables.items, tables.times
    rows = only_known(tables.ratings(), submissions["submission"])
    by_submission = places_in(submissions["submission"], rows["submission"])
    by_item = places_in(items["item"], rows["item"])
    keys = [rows["candidate"], rows["criterion"], rows["card"], items["position"][by_item], by_submission]
    order = np.lexsort([rows["opponent"], *keys] if rows["opponent"].any() else keys)
    del keys
    for name in rows:
        rows[name] = rows[name][order]
    by_submission, by_item = by_submission[order], by_item[order]
    of_answer = _places_of_answers(times, submissions["submission"], items["item"], by_submission, by_item)
    makers: dict[str, Callable[[], Any]] = {
        "submission": lambda: rows["submission"],
        **{name: partial(submissions[name].take, by_submission) for name in ("worker", *OF_HIT)},
        "item": lambda: rows["item"],
        **{name: partial(items[name].take, by_item) for name in OF_ITEM},
        "card": lambda: rows["card"],
        "place": lambda: rows["place"],
        "is_first_of_card": lambda: changes(by_submission, by_item, rows["card"], rows["criterion"]),
        "candidate": lambda: rows["candidate"],
        "generator": lambda: tables.generators_of(rows["candidate"]),
        "is_gold": lambda: rows["candidate"] == NO_CANDIDATE,
        "opponent": lambda: tables.generators_of(rows["opponent"]),
        "criterion": lambda: category(rows["criterion"], tables.criteria),
        "value": lambda: category(rows["value"], tables.values),
        "score": lambda: tables.scores[rows["criterion"], rows["value"]],
        "active_ms": lambda: np.append(times["active_ms"], 0)[of_answer],
        "hidden_ms": lambda: np.append(times["hidden_ms"], 0)[of_answer],
        **{name: partial(submissions[name].take, by_submission) for name in OF_WORK},
    }
    if tables.protocol.verdict_rule == "fourth vote":
        makers["is_fourth_vote"] = partial(submissions["is_fourth_vote"].take, by_submission)
    if tables.protocol.balances_sides:
        makers["is_turned"] = lambda: _is_turned(submissions["turned"], by_submission, items["position"][by_item])
    made = {name: make() for name, make in makers.items() if columns is None or name in columns}
    return pd.DataFrame(made, copy=False)  # nobody else has these arrays


def _is_turned(turned: Sequence[Sequence[int]], by_submission: Array, position: Array) -> Array:
    """Return which rows are of positions that were turned in their submission."""
    known = [number * MOST_POSITIONS + one for number, positions in enumerate(turned) for one in positions]
    return np.isin(by_submission * MOST_POSITIONS + position, np.array(known, np.int64))


def _places_of_answers(times: dict[str, Array], submissions: Array, items: Array, *wanted: Array) -> Array:
    """Return where each rating's answer stands in `times`; -1 if it has none."""
    # Submission and item become one number: looking that up is ten times as fast as looking up pairs.
    known = places_in(submissions, times["submission"]) * len(items) + places_in(items, times["item"])
    return places_in(known, wanted[0] * len(items) + wanted[1])


def changes(*columns: Array) -> Array:
    """Return True for each row that differs from the one before it."""
    changes = np.ones(len(columns[0]), bool)
    changes[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return changes
