"""The rows of an assignment, by statements that are written out.

A page saves as cards move. Django composes a statement anew each time, and for its raw ones it still finds out anew
what each column is: that took several times as long as the database took for the work (`benchmarks.serving`). Here
both happen once. What is asked less often stays with Django's own queries.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models

from hits.models import Answer, Assignment, BonusCheck, Standing

Row = TypeVar("Row", bound=models.Model)


class Table(Generic[Row]):
    """Reads and writes whole rows of a model."""

    def __init__(self, model: type[Row]) -> None:
        self._model = model
        self._fields = model._meta.concrete_fields
        self._names = [field.attname for field in self._fields]
        self._new_fields = [field for field in self._fields if not field.primary_key]
        self.name = model._meta.db_table
        self.columns = [str(field.column) for field in self._new_fields]
        # No words from outside: only the model's own names.
        self._select = f"SELECT {', '.join(str(field.column) for field in self._fields)} FROM {self.name}"  # noqa: S608
        marks = ", ".join(["%s"] * len(self.columns))
        self._insert = f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({marks})"  # noqa: S608

    def read(self, rest: str, *parameters: Any) -> list[Row]:
        connection = connections[DEFAULT_DB_ALIAS]
        with connection.cursor() as cursor:
            cursor.execute(f"{self._select} {rest}", parameters)
            rows = cursor.fetchall()
        converted = self._compiler.apply_converters(rows, self._converters)
        return [self._model.from_db(DEFAULT_DB_ALIAS, self._names, values) for values in converted]

    def write(self, row: Row, rest: str = "") -> None:
        connection = connections[DEFAULT_DB_ALIAS]
        values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in self._new_fields]
        with connection.cursor() as cursor:
            cursor.execute(f"{self._insert} {rest}", values)

    @cached_property
    def _compiler(self) -> Any:
        return self._model._default_manager.all().query.get_compiler(DEFAULT_DB_ALIAS)

    @cached_property
    def _converters(self) -> Any:
        return self._compiler.get_converters([field.get_col(self.name) for field in self._fields])


_assignments, _answers, _checks = Table(Assignment), Table(Answer), Table(BonusCheck)

BY_IDS = "WHERE environment = %s AND mturk_assignment_id = %s AND mturk_worker_id = %s"
INSTEAD = "ON CONFLICT (assignment_id, item_id) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in _answers.columns
)


def find_assignment(
    environment: str, assignment_id: str, worker_id: str, is_to_be_locked: bool = False
) -> Assignment | None:
    # SQLite knows no locks on rows: there, a transaction has the whole file.
    is_locked = is_to_be_locked and connections[DEFAULT_DB_ALIAS].features.has_select_for_update
    rest = f"{BY_IDS} FOR UPDATE" if is_locked else BY_IDS
    return next(iter(_assignments.read(rest, environment, assignment_id, worker_id)), None)


def assignments_with_id(environment: str, assignment_id: str) -> list[Assignment]:
    return _assignments.read("WHERE environment = %s AND mturk_assignment_id = %s", environment, assignment_id)


def assignments_of_hits(environment: str, hit_pks: Sequence[int]) -> list[Assignment]:
    marks = ", ".join(["%s"] * len(hit_pks))
    return _assignments.read(f"WHERE environment = %s AND hit_id IN ({marks})", environment, *hit_pks)


def is_published(hit_pk: int, environment: str, mturk_hit_id: str) -> bool:
    """Under this id, or under one that we have not heard of yet: a run was killed between its call and its note."""
    statement = "SELECT 1 FROM hits_publication WHERE hit_id = %s AND environment = %s AND mturk_hit_id IN (%s, '')"
    return _first(statement, hit_pk, environment, mturk_hit_id) is not None


def is_stopped(study_pk: int, environment: str, worker_id: str) -> bool:
    """By hand. Who has done enough is counted."""
    statement = """SELECT 1 FROM hits_standing WHERE study_id = %s AND environment = %s AND mturk_worker_id = %s
        AND lifted_at IS NULL AND kind <> %s"""
    return _first(statement, study_pk, environment, worker_id, Standing.Kind.CAP) is not None


def _first(statement: str, *parameters: Any) -> tuple[Any, ...] | None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(f"{statement} LIMIT 1", parameters)
        row: tuple[Any, ...] | None = cursor.fetchone()
        return row


def lock_study(study_pk: int) -> None:
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.features.has_select_for_update:
        with connection.cursor() as cursor:
            cursor.execute("SELECT id FROM hits_study WHERE id = %s FOR UPDATE", [study_pk])


def write_place(assignment: Assignment) -> None:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        statement = "UPDATE hits_assignment SET step = %s, feedback = %s WHERE id = %s"
        cursor.execute(statement, [assignment.step, assignment.feedback, assignment.pk])


def answer_to(assignment: Assignment, item_pk: int) -> Answer | None:
    return next(iter(_answers.read("WHERE assignment_id = %s AND item_id = %s", assignment.pk, item_pk)), None)


def answers_of(assignment: Assignment) -> dict[int, Answer]:
    """By their items."""
    return {answer.item_id: answer for answer in _answers.read("WHERE assignment_id = %s", assignment.pk)}


def write_answer(answer: Answer) -> None:
    """New, or instead of the one that is there."""
    _answers.write(answer, INSTEAD)


def checks_of(assignment: Assignment) -> list[BonusCheck]:
    """From the first attempt on."""
    return _checks.read("WHERE assignment_id = %s ORDER BY attempt", assignment.pk)


def write_check(check: BonusCheck) -> None:
    _checks.write(check)
