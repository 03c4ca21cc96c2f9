"""The one crossing from ORM to pandas: what a study's workers said and did, as two long tables.

In: a study and the marketplace that its work was done on; work that was only said to our pages is not in it. Out:
`ratings_frame` and `submissions_frame`, always with the columns below, also when there is no row. Guaranteed: the same
database gives the same rows in the same order; no worker's own id is in them; a handful of queries, whatever the size.
`rating_chunks` gives the ratings piece by piece, in room that does not grow with the study.

`ratings_frame`: one row for each reply that was judged in a submission, in the order of submission, position and card.
A card that stands for several models has a row for each of them; `is_first_of_card` picks one.

    submission        int64     the Submission's key
    worker            category  a pseudonym (hits.access.pseudonyms)
    hit, block, wave  int32     the HIT's number, its block (HITs with the same dialogs), its wave of publication
    item              int64     the HitItem's key
    dialog            int64     the Dialog's key: the same in all HITs of a block
    dataset           category  in the design's order
    external_id       category  the dialog's id in its dataset
    position          int16     of the dialog in the HIT, from 0
    is_checkpoint     bool      whether a human reply was hidden among the dialog's cards
    card, place       int16     in HitItem.cards, and on the worker's page; both from 0
    is_first_of_card  bool      False for further models of the same card
    candidate         int64     the Candidate's key; 0 for the human reply
    generator         category  in the design's order; missing for the human reply
    is_gold           bool      whether it is the human reply
    value             category  the area's key, in the design's order
    score             int8      3, 2, 1 for the first, second and last of three areas
    active_ms         int64     how long the worker looked at the dialog, as far as the clocks allow; 0 if
                                the page did not measure it
    hidden_ms         int64     how long it stood open in a hidden tab, likewise
    submitted_at      datetime  of the submission, in UTC

`submissions_frame`: one row for each submission that has answers, in the order of its key.

    submission, worker, hit, block, wave, submitted_at      as above
    status, is_rebuilt                                      as in Submission
    accepted_at       datetime  from here to submitted_at is what the marketplace calls the work's time
    dialogs           int16     that were answered
    active_seconds    float     sum over the dialogs; likewise hidden_seconds
    work_seconds      float     active_seconds; if none was measured, all that our clock and the marketplace's allow
    checkpoints       int16     in the HIT
    points            int16     bonus points (hits.protocols.points)
    first_points      int16     checkpoints that passed at the first check, or in the end where there was none
    attempts          int16     at Bonus Validate, all checkpoints together
    won_checks        int16     checkpoints of which some check passed
    moved_checks      int16     of those, sorted anew after the last check that passed (hits.protocols.points)
    has_feedback      bool      whether the worker wrote us something
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Case, Field, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from generation.models import Candidate, Generator
from hits.access.pseudonyms import pseudonym
from hits.collecting.active_times import bounded_times, span_seconds
from hits.models import Answer, BonusCheck, HitItem, Publication, Rating, Study, Submission
from hits.models.design import StudyDesign
from hits.protocols.points import is_moved, wins_point
from hits.stats.scales import score_of

CHUNK = 20_000
SUBMISSIONS_AT_ONCE = 500
NO_CANDIDATE = 0

Array = np.ndarray[Any, Any]
NameWorker = Callable[[str], str]


@dataclass(frozen=True)
class Frames:
    """Both frames of the same work. `cards` has one row of the ratings for each card, `answers` one for each dialog."""

    ratings: pd.DataFrame
    submissions: pd.DataFrame

    @cached_property
    def cards(self) -> pd.DataFrame:
        return self.ratings[self.ratings["is_first_of_card"]]

    @cached_property
    def answers(self) -> pd.DataFrame:
        return self.ratings[~self.ratings.duplicated(["submission", "item"])]


def ratings_frame(study: Study, environment: str) -> pd.DataFrame:
    return _ratings(_Tables(study, environment))


def submissions_frame(study: Study, environment: str) -> pd.DataFrame:
    return _submissions(_Tables(study, environment))


def study_frames(study: Study, environment: str) -> Frames:
    """Both, for little more than one of them."""
    tables = _Tables(study, environment)
    return Frames(_ratings(tables), _submissions(tables))


def rating_chunks(
    study: Study, environment: str, name_worker: NameWorker | None = None, at_once: int = SUBMISSIONS_AT_ONCE
) -> Iterator[pd.DataFrame]:
    """The ratings frame in pieces of so many submissions, with `label`, the reply's predicted emotion or intent. The
    pieces' categories of workers, dialogs and labels are their own."""
    keys = _read(_confirmed(study, environment).order_by("pk").values_list("pk"), submission=np.int64)["submission"]
    for start in range(0, len(keys), at_once):
        part = keys[start : start + at_once]
        tables = _Tables(study, environment, name_worker, (int(part[0]), int(part[-1])))
        frame = _ratings(tables)
        frame["label"] = _labels(tables.hit_items, frame["candidate"].to_numpy())
        yield frame


def reply_labels(study: Study, candidates: Array) -> Any:
    """The emotion or intent that was predicted for each of these candidates; missing where there is none."""
    return _labels(HitItem.objects.filter(hit__study=study), candidates)


def _labels(items: QuerySet[HitItem], candidates: Array) -> Any:
    dialogs = items.order_by().values("dialog")
    labelled = Candidate.objects.filter(dialog__in=dialogs).exclude(predicted_label="")
    rows = _read(labelled.values_list("pk", "predicted_label"), candidate=np.int64, label=object)
    codes, names = pd.factorize(rows["label"], sort=True)
    found = np.append(codes, -1)[_places_in(rows["candidate"], candidates)]
    return _category(found, list(names))


def _ratings(tables: "_Tables") -> pd.DataFrame:
    design, submissions, items, times = tables.design, tables.submissions, tables.items, tables.times
    rows = _known(tables.ratings(), submissions["submission"])
    by_submission = _places_in(submissions["submission"], rows["submission"])
    by_item = _places_in(items["item"], rows["item"])
    order = np.lexsort([rows["candidate"], rows["card"], items["position"][by_item], by_submission])
    rows = {name: column[order] for name, column in rows.items()}
    by_submission, by_item = by_submission[order], by_item[order]
    of_submission = {name: submissions[name].take(by_submission) for name in ("worker", *_PLACED, "submitted_at")}
    of_answer = _places_of_answers(times, submissions["submission"], items["item"], by_submission, by_item)
    return pd.DataFrame(
        {
            "submission": rows["submission"],
            "worker": of_submission["worker"],
            **{name: of_submission[name] for name in _PLACED},
            "item": rows["item"],
            **{name: items[name].take(by_item) for name in _OF_ITEM},
            "card": rows["card"],
            "place": rows["place"],
            "is_first_of_card": _changes(by_submission, by_item, rows["card"]),
            "candidate": rows["candidate"],
            "generator": tables.generators_of(rows["candidate"]),
            "is_gold": rows["candidate"] == NO_CANDIDATE,
            "value": _category(rows["value"], [area.key for area in design.task.areas]),
            "score": score_of(rows["value"], len(design.task.areas)).astype(np.int8),
            "active_ms": np.append(times["active_ms"], 0)[of_answer],
            "hidden_ms": np.append(times["hidden_ms"], 0)[of_answer],
            "submitted_at": of_submission["submitted_at"],
        }
    )


def _submissions(tables: "_Tables") -> pd.DataFrame:
    frame = pd.DataFrame(tables.submissions).drop(columns="opened_at")
    keys = frame["submission"]
    times = pd.DataFrame(tables.times).groupby("submission")
    frame["dialogs"] = _counted(times["item"].size(), keys)
    frame["active_seconds"] = times["active_ms"].sum().reindex(keys, fill_value=0).to_numpy() / 1000
    frame["hidden_seconds"] = times["hidden_ms"].sum().reindex(keys, fill_value=0).to_numpy() / 1000
    frame["work_seconds"] = frame["active_seconds"].where(frame["active_seconds"] > 0, frame.pop("span_seconds"))
    items = pd.DataFrame({name: tables.items[name] for name in ("hit", "is_checkpoint")})
    frame["checkpoints"] = _counted(items.groupby("hit")["is_checkpoint"].sum(), frame["hit"])
    sums = _checkpoints(tables).groupby("submission").sum()
    for name in ("points", "first_points", "attempts", "won_checks", "moved_checks"):
        frame[name] = _counted(sums[name], keys)
    frame["has_feedback"] = frame.pop("has_feedback")
    return frame


def _checkpoints(tables: "_Tables") -> pd.DataFrame:
    """A row for each checkpoint that was answered, whether its worker asked for the point or not."""
    key = ["submission", "item"]
    rules = tables.design.checkpoints
    frame = pd.DataFrame(tables.human_replies()).set_index(key)
    final = frame.pop("area").isin(rules.passing_areas)
    checks = pd.DataFrame(tables.checks())
    of_items = checks.groupby(key)
    first = of_items["is_won"].first().reindex(frame.index).fillna(final).astype(bool)
    won = checks[checks["is_won"]].groupby(key)["value"].last().reindex(frame.index)
    has_won = won.notna()
    frame["points"] = wins_point(rules, final, first)
    frame["first_points"] = first
    frame["attempts"] = of_items.size().reindex(frame.index, fill_value=0)
    frame["won_checks"] = has_won
    triples = zip(has_won, won, frame.pop("answer"), strict=True)
    moved = [has and is_moved(checked["areas"], answer["areas"]) for has, checked, answer in triples]
    frame["moved_checks"] = np.array(moved, np.bool_)
    return frame.astype(np.int16)


# --- Tables, each with one query -------------------------------------------------------------------------------------

_PLACED = ("hit", "block", "wave")
_OF_ITEM = ("dialog", "dataset", "external_id", "position", "is_checkpoint")


def _confirmed(study: Study, environment: str) -> QuerySet[Submission]:
    return Submission.objects.filter(assignment__hit__study=study, assignment__environment=environment, problem="")


class _Tables:
    """What both frames are made of, each read once, and columns at once: row by row it would take minutes."""

    def __init__(
        self,
        study: Study,
        environment: str,
        name_worker: NameWorker | None = None,
        between: tuple[int, int] | None = None,
    ) -> None:
        """`between` are the first and the last submission's key, if only some are wanted."""
        self.study = study
        self.environment = environment
        self.design = StudyDesign.model_validate(study.design)
        self.name_worker = name_worker or (lambda worker_id: pseudonym(study, worker_id))
        self.between = between

    @property
    def confirmed(self) -> QuerySet[Submission]:
        found = _confirmed(self.study, self.environment)
        return found.filter(pk__range=self.between) if self.between else found

    @property
    def hit_items(self) -> QuerySet[HitItem]:
        found = HitItem.objects.filter(hit__study=self.study)
        hits = self.confirmed.order_by().values("assignment__hit")
        return found.filter(hit__in=hits) if self.between else found

    def ratings(self) -> dict[str, Array]:
        """Without joins but for the choice of rows: a join costs as much as the reading."""
        areas = [When(value=area.key, then=number) for number, area in enumerate(self.design.task.areas)]
        bare: Field[int, int] = Field()  # as a number field, Django would call a function on each value
        candidate = Coalesce("candidate_id", Value(NO_CANDIDATE), output_field=bare)
        found = Rating.objects.filter(
            submission__assignment__hit__study=self.study, submission__assignment__environment=self.environment
        )
        if self.between:
            found = found.filter(submission__pk__range=self.between)
        return _read(
            found.values_list("submission_id", "item_id", "card", "place", candidate, Case(*areas, output_field=bare)),
            submission=np.int64,
            item=np.int64,
            card=np.int16,
            place=np.int16,
            candidate=np.int64,
            value=np.int8,
        )

    def generators_of(self, candidates: Array) -> Any:
        names = self.design.generators
        keys = dict(Generator.objects.filter(name__in=names).values_list("pk", "name"))
        dialogs = self.hit_items.order_by().values("dialog")
        found = Candidate.objects.filter(dialog__in=dialogs, generator__in=keys).values_list("pk", "generator_id")
        rows = _read(found, candidate=np.int64, generator=np.int64)
        numbers = np.array([names.index(name) for name in keys.values()], np.int16)
        known = np.append(rows["candidate"], NO_CANDIDATE)
        codes = np.append(numbers[_places_in(np.array([*keys]), rows["generator"])], np.int16(-1))
        return _category(codes[_places_in(known, candidates)], names)

    @cached_property
    def submissions(self) -> dict[str, Any]:
        rows = _read(
            self.confirmed.order_by("pk").values_list(
                *("pk", "assignment__mturk_worker_id", "assignment__hit__number", "assignment__hit__block"),
                *("status", "is_rebuilt", "accepted_at", "submitted_at", "assignment__feedback"),
                *("assignment__opened_at", "assignment__submitted_at"),
            ),
            submission=np.int64,
            worker=object,
            hit=np.int32,
            block=np.int32,
            status=object,
            is_rebuilt=np.bool_,
            accepted_at=object,
            submitted_at=object,
            has_feedback=object,
            opened_at=object,
            handed_in_at=object,
        )
        clocks = ("opened_at", "handed_in_at", "accepted_at", "submitted_at")
        pseudonyms = {worker_id: self.name_worker(worker_id) for worker_id in set(rows["worker"])}
        workers = [pseudonyms[worker_id] for worker_id in rows["worker"]]
        return {
            "submission": rows["submission"],
            "worker": pd.Categorical(workers, categories=sorted(pseudonyms.values())),
            "hit": rows["hit"],
            "block": rows["block"],
            "wave": self._waves(rows["hit"]),
            "status": pd.Categorical(rows["status"], categories=Submission.Status.values),
            "is_rebuilt": rows["is_rebuilt"],
            "accepted_at": _as_times(rows["accepted_at"]),
            "submitted_at": _as_times(rows["submitted_at"]),
            "has_feedback": rows["has_feedback"].astype(bool),
            "span_seconds": np.array([span_seconds(*at) for at in zip(*(rows[name] for name in clocks), strict=True)]),
            "opened_at": _as_times(rows["opened_at"]),
        }

    def _waves(self, hits: Array) -> Array:
        found = Publication.objects.filter(hit__study=self.study, environment=self.environment).current()
        if self.between:
            found = found.filter(hit__in=self.confirmed.order_by().values("assignment__hit"))
        waves = dict(found.values_list("hit__number", "wave"))
        return np.array([waves.get(int(hit), 1) for hit in hits], np.int32)

    @cached_property
    def items(self) -> dict[str, Any]:
        rows = _read(
            self.hit_items.values_list(
                *("pk", "hit__number", "position", "is_checkpoint"),
                *("dialog_id", "dialog__dataset__name", "dialog__external_id"),
            ),
            item=np.int64,
            hit=np.int32,
            position=np.int16,
            is_checkpoint=np.bool_,
            dialog=np.int64,
            dataset=object,
            external_id=object,
        )
        names = [part.name for part in self.design.datasets]
        rows["dataset"] = pd.Categorical(rows["dataset"], categories=names)
        rows["external_id"] = pd.Categorical(rows["external_id"])
        return rows

    @cached_property
    def times(self) -> dict[str, Array]:
        found = Answer.objects.filter(assignment__submission__in=self.confirmed)
        rows = _read(
            found.values_list("assignment__submission", "item_id", "active_ms", "hidden_ms", "saved_at"),
            submission=np.int64,
            item=np.int64,
            active_ms=np.int64,
            hidden_ms=np.int64,
            saved_at=object,
        )
        rows = _known(rows, self.submissions["submission"])
        group = _places_in(self.submissions["submission"], rows["submission"])
        since = _as_times(rows.pop("saved_at")) - self.submissions["opened_at"].take(group)
        saved_ms = since.total_seconds().to_numpy() * 1000
        span_ms = 1000 * self.submissions["span_seconds"].take(group)
        times = bounded_times(group, saved_ms, span_ms, rows["active_ms"], rows["hidden_ms"])
        return {**rows, "active_ms": times[0], "hidden_ms": times[1]}

    def human_replies(self) -> dict[str, Array]:
        """Of each answered checkpoint: the area of the human reply, and the whole answer."""
        found = Rating.objects.filter(submission__in=self.confirmed, candidate=None)
        answer = Answer.objects.filter(assignment=OuterRef("submission__assignment"), item=OuterRef("item"))
        rows = found.order_by("submission", "item").values_list(
            "submission_id", "item_id", "value", Subquery(answer.values("value"))
        )
        return _known(
            _read(rows, submission=np.int64, item=np.int64, area=object, answer=object), self.submissions["submission"]
        )

    def checks(self) -> dict[str, Array]:
        found = BonusCheck.objects.filter(assignment__submission__in=self.confirmed)
        rows = found.order_by("attempt").values_list("assignment__submission", "item_id", "is_won", "value")
        return _read(rows, submission=np.int64, item=np.int64, is_won=np.bool_, value=object)


# --- Columns ---------------------------------------------------------------------------------------------------------


def _read(rows: QuerySet[Any, Any], **types: Any) -> dict[str, Any]:
    """A column for each name, straight from the cursor: as Python objects, the rows would take 20 times the room."""
    found = np.fromiter(rows.iterator(chunk_size=CHUNK), np.dtype(list(types.items())))
    return {name: np.ascontiguousarray(found[name]) for name in types}


def _places_in(keys: Array, wanted: Array) -> Array:
    return pd.Index(keys).get_indexer(pd.Index(wanted))


def _known(rows: dict[str, Array], submissions: Array) -> dict[str, Array]:
    """Without what has arrived since the submissions were read."""
    is_known = _places_in(submissions, rows["submission"]) >= 0
    return rows if is_known.all() else {name: column[is_known] for name, column in rows.items()}


def _places_of_answers(times: dict[str, Array], submissions: Array, items: Array, *wanted: Array) -> Array:
    """-1 where there is none. By one number for submission and item together: ten times as fast as by pairs."""
    known = _places_in(submissions, times["submission"]) * len(items) + _places_in(items, times["item"])
    return _places_in(known, wanted[0] * len(items) + wanted[1])


def _changes(*columns: Array) -> Array:
    """Where a row differs from the one before it."""
    changes = np.ones(len(columns[0]), bool)
    changes[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return changes


def _category(codes: Array, names: list[str]) -> Any:
    return pd.Categorical.from_codes(codes, categories=pd.Index(names))


def _as_times(values: Array) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(pd.to_datetime(values, utc=True)).as_unit("us")


def _counted(counts: "pd.Series[Any]", keys: "pd.Series[Any]") -> Array:
    return counts.reindex(keys, fill_value=0).to_numpy().astype(np.int16)
