"""Reads the tables that both frames are made of from the database, with one query for each table."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Case, Field, Func, IntegerField, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from generation.models import Candidate, Generator
from hits.access import pseudonym
from hits.collecting import CONTROL_COUNTS, bounded_times, span_seconds
from hits.frames.arrays import Array, as_times, category, only_known, places_in, read_columns
from hits.models import Answer, BonusCheck, HitItem, Offering, Publication, Rating, Submission
from hits.models.assignment import FIRST_ATTEMPT
from hits.protocols import protocol_of

NO_CANDIDATE = 0

NameWorker = Callable[[str], str]


def confirmed_submissions(offering: Offering) -> QuerySet[Submission]:
    return Submission.objects.filter(assignment__offering=offering).with_answers()


class TurnCount(Func):
    """Counts a dialog's turns in the database, so that their texts need not be read."""

    function = "JSON_ARRAY_LENGTH"
    output_field = IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_ARRAY_LENGTH", **more)


class StudyTables:
    """The tables that both frames are made of. Each is read once, column by column: row by row would take minutes."""

    def __init__(
        self,
        offering: Offering,
        name_worker: NameWorker | None = None,
        between: tuple[int, int] | None = None,
    ) -> None:
        """`between` has the ids of the first and the last submission, if only some are wanted."""
        self.offering, self.study = offering, offering.study
        self.design = offering.study.parsed_design
        self.protocol = protocol_of(self.design)
        self.criteria = [one.name for one in self.protocol.criteria]
        self.values = list(dict.fromkeys(value for one in self.protocol.criteria for value in one.scale.values))
        self.name_worker = name_worker or (lambda worker_id: pseudonym(offering.study, worker_id))
        self.between = between

    @property
    def confirmed(self) -> QuerySet[Submission]:
        found = confirmed_submissions(self.offering)
        return found.filter(pk__range=self.between) if self.between else found

    @property
    def hit_items(self) -> QuerySet[HitItem]:
        found = HitItem.objects.filter(hit__study=self.study)
        hits = self.confirmed.order_by().values("assignment__hit")
        return found.filter(hit__in=hits) if self.between else found

    @cached_property
    def scores(self) -> Array:
        """The score of each value, by criterion; 0 for values that are not on a criterion's scale, so never occur."""
        scores = [score for criterion in self.protocol.criteria for score in criterion.scale.scores]
        found = np.zeros((len(self.criteria), len(self.values)), _smallest_type(max(map(abs, scores))))
        for number, criterion in enumerate(self.protocol.criteria):
            for value, score in zip(criterion.scale.values, criterion.scale.scores, strict=True):
                found[number, self.values.index(value)] = score
        return found

    def ratings(self) -> dict[str, Array]:
        """Read the ratings. Joins only choose the rows; reading joined columns as well would take twice as long."""
        bare: Field[int, int] = Field()  # with a number field, Django would call a function on each value
        value = Case(*(When(value=name, then=code) for code, name in enumerate(self.values)), output_field=bare)
        asked = Case(*(When(criterion=name, then=code) for code, name in enumerate(self.criteria)), output_field=bare)
        candidate = Coalesce("candidate_id", Value(NO_CANDIDATE), output_field=bare)
        opponent = Coalesce("opponent_id", Value(NO_CANDIDATE), output_field=bare)
        found = Rating.objects.filter(submission__assignment__offering=self.offering)
        if self.between:
            found = found.filter(submission__pk__range=self.between)
        return read_columns(
            found.values_list("submission_id", "item_id", "card", "place", candidate, opponent, asked, value),
            submission=np.int64,
            item=np.int64,
            card=np.int16,
            place=np.int16,
            candidate=np.int64,
            opponent=np.int64,
            criterion=np.int8,
            value=_smallest_type(len(self.values)),
        )

    def generators_of(self, candidates: Array) -> Any:
        """Return the generator of each candidate; missing for NO_CANDIDATE."""
        known, codes = self._generators
        return category(codes[places_in(known, candidates)], self.design.generators)

    @cached_property
    def _generators(self) -> tuple[Array, Array]:
        """All candidates of the study's dialogs, and the index of each one's generator in the design."""
        names = self.design.generators
        keys = dict(Generator.objects.filter(name__in=names).values_list("pk", "name"))
        dialogs = self.hit_items.order_by().values("dialog")
        found = Candidate.objects.filter(dialog__in=dialogs, generator__in=keys).values_list("pk", "generator_id")
        rows = read_columns(found, candidate=np.int64, generator=np.int64)
        numbers = np.array([names.index(name) for name in keys.values()], np.int16)
        known = np.append(rows["candidate"], NO_CANDIDATE)
        codes = np.append(numbers[places_in(np.array([*keys]), rows["generator"])], np.int16(-1))
        return known, codes

    @cached_property
    def submissions(self) -> dict[str, Any]:
        rows = read_columns(
            self.confirmed.order_by("pk").values_list(
                *("pk", "assignment__crowd_worker_id", "assignment__hit__number", "assignment__hit__block"),
                *("status", "origin", "is_rebuilt", "accepted_at", "submitted_at", "assignment__feedback"),
                *("assignment__opened_at", "assignment__submitted_at"),
                *("assignment__hit__added_for", "assignment__turned"),
                *CONTROL_COUNTS,
            ),
            submission=np.int64,
            worker=object,
            hit=np.int32,
            block=np.int32,
            status=object,
            origin=object,
            is_rebuilt=np.bool_,
            accepted_at=object,
            submitted_at=object,
            has_feedback=object,
            opened_at=object,
            handed_in_at=object,
            added_for=object,
            turned=object,
            **dict.fromkeys(CONTROL_COUNTS, np.int16),
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
            "origin": pd.Categorical(rows["origin"], categories=Submission.Origin.values),
            "is_rebuilt": rows["is_rebuilt"],
            "accepted_at": as_times(rows["accepted_at"]),
            "submitted_at": as_times(rows["submitted_at"]),
            "has_feedback": rows["has_feedback"].astype(bool),
            "span_seconds": np.array([span_seconds(*at) for at in zip(*(rows[name] for name in clocks), strict=True)]),
            "opened_at": as_times(rows["opened_at"]),
            "turned": rows["turned"],
            "is_fourth_vote": np.array([one is not None for one in rows["added_for"]], bool),
            **{name: rows[name] for name in CONTROL_COUNTS},
        }

    def _waves(self, hits: Array) -> Array:
        found = Publication.objects.filter(offering=self.offering).current()
        if self.between:
            found = found.filter(hit__in=self.confirmed.order_by().values("assignment__hit"))
        waves = dict(found.values_list("hit__number", "wave"))
        return np.array([waves.get(int(hit), 1) for hit in hits], np.int32)

    @cached_property
    def items(self) -> dict[str, Any]:
        rows = read_columns(
            self.hit_items.values_list(
                *("pk", "hit__number", "position", "is_checkpoint"),
                *("dialog_id", "dialog__dataset__name", "dialog__external_id"),
                *("dialog__emotion", TurnCount("dialog__turns")),
            ),
            item=np.int64,
            hit=np.int32,
            position=np.int16,
            is_checkpoint=np.bool_,
            dialog=np.int64,
            dataset=object,
            external_id=object,
            emotion=object,
            turns=np.int16,
        )
        names = [part.name for part in self.design.datasets]
        rows["dataset"] = pd.Categorical(rows["dataset"], categories=names)
        rows["external_id"] = pd.Categorical(rows["external_id"])
        emotions = sorted({name for name in rows["emotion"] if name})
        # An empty one is no category: pandas wants it to be missing already.
        rows["emotion"] = pd.Categorical([name or None for name in rows["emotion"]], categories=emotions)
        return rows

    @cached_property
    def times(self) -> dict[str, Array]:
        found = Answer.objects.filter(assignment__submission__in=self.confirmed)
        rows = read_columns(
            found.values_list("assignment__submission", "item_id", "active_ms", "hidden_ms", "saved_at"),
            submission=np.int64,
            item=np.int64,
            active_ms=np.int64,
            hidden_ms=np.int64,
            saved_at=object,
        )
        rows = only_known(rows, self.submissions["submission"])
        group = places_in(self.submissions["submission"], rows["submission"])
        since = as_times(rows.pop("saved_at")) - self.submissions["opened_at"].take(group)
        saved_ms = since.total_seconds().to_numpy() * 1000
        span_ms = 1000 * self.submissions["span_seconds"].take(group)
        times = bounded_times(group, saved_ms, span_ms, rows["active_ms"], rows["hidden_ms"])
        return {**rows, "active_ms": times[0], "hidden_ms": times[1]}

    def human_replies(self) -> dict[str, Array]:
        """Read, for each answered checkpoint, what the worker said about the human reply, and the whole answer."""
        found = Rating.objects.filter(
            submission__in=self.confirmed, candidate=None, criterion=self.protocol.checkpoint_criterion
        )
        answer = Answer.objects.filter(assignment=OuterRef("submission__assignment"), item=OuterRef("item"))
        rows = found.order_by("submission", "item").values_list(
            "submission_id", "item_id", "value", Subquery(answer.values("value"))
        )
        return only_known(
            read_columns(rows, submission=np.int64, item=np.int64, value=object, answer=object),
            self.submissions["submission"],
        )

    def checks(self) -> dict[str, Array]:
        found = BonusCheck.objects.filter(assignment__submission__in=self.confirmed)
        rows = found.order_by("attempt").values_list(
            "assignment__submission", "item_id", "attempt", "is_passed", "value"
        )
        read = read_columns(
            rows, submission=np.int64, item=np.int64, attempt=np.int32, is_passed=np.bool_, value=object
        )
        return {**read, "is_first": read["attempt"] == FIRST_ATTEMPT}


def _smallest_type(largest: int) -> type[np.signedinteger[Any]]:
    """Return the type that holds numbers up to this one. Most scales need one byte, and there may be ten million
    ratings."""
    return np.int8 if largest < 128 else np.int16 if largest < 32_768 else np.int32
