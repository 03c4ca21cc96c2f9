"""Reads and writes the rows of an assignment with SQL that is composed once, for speed; counts work and visits.

A page saves while cards move. Django composes a statement again each time, and even for raw ones it looks up again what
each column is: that took several times as long as the database took for the work (`benchmarks.serving`). Here both
happen once. Queries that are run less often use Django's own.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.base import ModelState
from psycopg import Cursor

from hits.models import Answer, Assignment, BonusCheck, Offering, Standing
from hits.models.assignment import IN_HAND_OR_HANDED_IN

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
        # Safe to compose: only the model's own names go in, nothing from outside.
        every = ", ".join(str(field.column) for field in self._fields)
        self._select = f"SELECT {every} FROM {self.name}"  # noqa: S608
        self._update, self._returning = f"UPDATE {self.name}", f"RETURNING {every}"
        marks = ", ".join(["%s"] * len(self.columns))
        self._insert = f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({marks})"  # noqa: S608

    def read(self, rest: str, *parameters: Any) -> list[Row]:
        return self._rows(execute(f"{self._select} {rest}", *parameters))

    def update(self, rest: str, *parameters: Any) -> list[Row]:
        """Update rows and return them as they are then."""
        return self._rows(execute(f"{self._update} {rest} {self._returning}", *parameters))

    def _rows(self, found: list[tuple[Any, ...]]) -> list[Row]:
        return [self._row(values) for values in self._compiler.apply_converters(found, self._converters)]

    def _row(self, values: Sequence[Any]) -> Row:
        """Do what Model.from_db does, without its signals, to which nobody here listens."""
        row = self._model.__new__(self._model)
        row.__dict__.update(zip(self._names, values, strict=True))
        row._state = ModelState()
        row._state.adding = False
        row._state.db = DEFAULT_DB_ALIAS
        return row

    def write(self, row: Row, rest: str = "") -> bool:
        """Insert the row and return whether it was written. `rest` may say what to do if there is one already."""
        connection = connections[DEFAULT_DB_ALIAS]
        values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in self._new_fields]
        written = execute(f"{self._insert} {rest} RETURNING id", *values)
        for (pk,) in written:
            row.pk = pk
        return bool(written)

    @cached_property
    def _compiler(self) -> Any:
        return self._model._default_manager.all().query.get_compiler(DEFAULT_DB_ALIAS)

    @cached_property
    def _converters(self) -> Any:
        return self._compiler.get_converters([field.get_col(self.name) for field in self._fields])


_assignments, _answers, _checks = Table(Assignment), Table(Answer), Table(BonusCheck)

BY_IDS = "WHERE offering_id = %s AND crowd_assignment_id = %s AND crowd_worker_id = %s"
HOLD = f"SET step = COALESCE(NULLIF(%s, ''), step), feedback = COALESCE(%s, feedback) {BY_IDS}"
INSTEAD = "ON CONFLICT (assignment_id, item_id) DO UPDATE SET " + ", ".join(
    f"{column} = excluded.{column}" for column in _answers.columns
)


def find_assignment(offering: Offering, assignment_id: str, worker_id: str) -> Assignment | None:
    """Return the assignment with these ids, or None."""
    return _first_of(offering, _assignments.read(BY_IDS, offering.pk, assignment_id, worker_id))


def hold_assignment(
    offering: Offering, assignment_id: str, worker_id: str, step: str = "", feedback: str | None = None
) -> Assignment | None:
    """Return the assignment with these ids, or None, and lock it until the transaction ends.

    `step` and `feedback` are saved with it if the page sent them.
    """
    ids = offering.pk, assignment_id, worker_id
    found = _assignments.update(HOLD, step, feedback, *ids) if step or feedback is not None else None
    if found is None:
        # SQLite has no locks on rows: there, a transaction locks the whole file.
        has_locks = connections[DEFAULT_DB_ALIAS].features.has_select_for_update
        found = _assignments.read(f"{BY_IDS} FOR UPDATE" if has_locks else BY_IDS, *ids)
    return _first_of(offering, found)


def _first_of(offering: Offering, found: list[Assignment]) -> Assignment | None:
    if not found:
        return None
    found[0].offering = offering  # so that nobody has to read it from the database
    return found[0]


def find_others_in_hand(offering: Offering, assignment_id: str, worker_id: str) -> bool:
    """Return whether another worker holds the same id. Usually nobody does."""
    statement = """SELECT 1 FROM hits_assignment WHERE offering_id = %s AND crowd_assignment_id = %s
        AND crowd_worker_id <> %s AND submitted_at IS NULL AND taken_over_at IS NULL"""
    return _first(statement, offering.pk, assignment_id, worker_id) is not None


def confirmed_of_hits(offering: Offering, hit_pks: Sequence[int], held_after: datetime) -> list[tuple[int, int, bool]]:
    """Return the confirmed work on these HITs that is in hand or handed in: its HIT, rotation, and whether it is handed
    in.

    Work that was handed in to us, but not to the marketplace, no longer counts once we know that.
    """
    marks = ", ".join(["%s"] * len(hit_pks))
    statement = f"""SELECT hit_id, rotation, submitted_at IS NOT NULL FROM hits_assignment
        WHERE hit_id IN ({marks}) AND offering_id = %s AND confirmed_at IS NOT NULL
        AND {IN_HAND_OR_HANDED_IN}"""  # noqa: S608
    return [
        (hit, rotation, bool(is_in))
        for hit, rotation, is_in in execute(statement, *hit_pks, offering.pk, as_stored(held_after))
    ]


def work_of_worker(
    offering: Offering, worker_id: str, visited_from: str, held_after: datetime
) -> list[tuple[int, bool]]:
    """Return a worker's assignments in a study: the HIT, and whether it counts towards their limit.

    These are the ones that the marketplace has confirmed, and those that were opened from this visit's address: anyone
    can open a page in a worker's name, but not from their address.
    """
    rows = f"""SELECT hit_id, {IN_HAND_OR_HANDED_IN} FROM hits_assignment
        WHERE offering_id = %s AND crowd_worker_id = %s"""  # noqa: S608
    statement = f"""{rows} AND confirmed_at IS NOT NULL
        UNION ALL {rows} AND confirmed_at IS NULL AND visited_from > '' AND visited_from = %s"""
    whose = (as_stored(held_after), offering.pk, worker_id)
    return [(hit, bool(counts)) for hit, counts in execute(statement, *whose, *whose, visited_from)]


def count_visits_from(visited_from: str, hit_pk: int, since: datetime) -> tuple[int, int]:
    """Count unconfirmed openings from one address: all of them, and those of this HIT."""
    statement = """SELECT count(*), count(CASE WHEN hit_id = %s THEN 1 END) FROM hits_assignment
        WHERE visited_from = %s AND visited_from > '' AND confirmed_at IS NULL AND opened_at > %s"""
    ((of_all, of_hit),) = execute(statement, hit_pk, visited_from, as_stored(since))
    return int(of_all), int(of_hit)


def count_places_from(offering: Offering, visited_from: str, hour_ago: datetime, day_ago: datetime) -> tuple[int, int]:
    """Count the places in an offering that people from one address have taken by open links: those of the last hour or
    still in hand, and those of the last day or still in hand. A place whose time is over counts as well, since late
    work is taken and due: waiting would bring as many places as one likes."""
    statement = """SELECT count(CASE WHEN place = 'held' OR held_at > %s THEN 1 END), count(*) FROM hits_assignment
        WHERE visited_from = %s AND visited_from > '' AND confirmed_at IS NOT NULL AND offering_id = %s
        AND (place = 'held' OR held_at > %s)"""
    since = as_stored(hour_ago), as_stored(day_ago)
    ((of_hour, of_day),) = execute(statement, since[0], visited_from, offering.pk, since[1])
    return int(of_hour), int(of_day)


def count_unconfirmed_checks(item_pks: Sequence[int], since: datetime, most: int, visited_from: str = "") -> int:
    """Count checks at these checkpoints by unconfirmed assignments, from all addresses or one, but no further than
    `most`."""
    marks = ", ".join(["%s"] * len(item_pks))
    where, whose = (" AND visited_from = %s", (visited_from,)) if visited_from else ("", ())
    statement = f"""SELECT count(*) FROM (SELECT 1 FROM hits_bonuscheck
        JOIN hits_assignment ON hits_assignment.id = assignment_id
        WHERE item_id IN ({marks}) AND checked_at > %s AND confirmed_at IS NULL{where} LIMIT %s) AS found"""  # noqa: S608
    ((count,),) = execute(statement, *item_pks, as_stored(since), *whose, most)
    return int(count)


def count_attempts_of_worker(assignment: Assignment, item_pk: int) -> int:
    """Count a worker's checks of one dialog, under whatever assignment ids they opened the HIT."""
    statement = """SELECT count(*) FROM hits_bonuscheck JOIN hits_assignment ON hits_assignment.id = assignment_id
        WHERE item_id = %s AND offering_id = %s AND crowd_worker_id = %s"""
    ((count,),) = execute(statement, item_pk, assignment.offering_id, assignment.crowd_worker_id)
    return int(count)


def count_checks_from(visited_from: str, since: datetime) -> int:
    """Count checks by unconfirmed assignments from one address."""
    statement = """SELECT count(*) FROM hits_assignment JOIN hits_bonuscheck ON assignment_id = hits_assignment.id
        WHERE visited_from = %s AND visited_from > '' AND confirmed_at IS NULL AND checked_at > %s"""
    ((count,),) = execute(statement, visited_from, as_stored(since))
    return int(count)


def is_published(hit_pk: int, offering: Offering, crowd_hit_id: str) -> bool:
    """Return whether the HIT was published under this id, or under one that we have not heard yet because a run was
    killed between its call and its note.

    If the crowd names no id: whether the HIT is published there at all.
    """
    if not crowd_hit_id:
        ours = "SELECT 1 FROM hits_publication WHERE hit_id = %s AND offering_id = %s AND retired_at IS NULL"
        return _first(ours, hit_pk, offering.pk) is not None
    statement = "SELECT 1 FROM hits_publication WHERE hit_id = %s AND offering_id = %s AND crowd_hit_id IN (%s, '')"
    return _first(statement, hit_pk, offering.pk, crowd_hit_id) is not None


def is_stopped(offering: Offering, worker_id: str) -> bool:
    """True if a researcher blocked this worker. The cap is checked elsewhere."""
    statement = """SELECT 1 FROM hits_standing WHERE offering_id = %s AND crowd_worker_id = %s
        AND lifted_at IS NULL AND kind <> %s"""
    return _first(statement, offering.pk, worker_id, Standing.Kind.CAP) is not None


def is_revoked(offering: Offering, worker_id: str) -> bool:
    """True if the worker's personal invitation was revoked."""
    statement = "SELECT 1 FROM hits_invitation WHERE offering_id = %s AND worker_id = %s AND revoked_at IS NOT NULL"
    return _first(statement, offering.pk, worker_id) is not None


def _first(statement: str, *parameters: Any) -> tuple[Any, ...] | None:
    return next(iter(execute(f"{statement} LIMIT 1", *parameters)), None)


def execute(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "postgresql":
        return _execute_prepared(connection, statement, parameters)
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def _execute_prepared(connection: Any, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Let PostgreSQL plan the statement once per connection. Through Django's cursor it would plan it each time."""
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(statement, parameters, prepare=True)
        # A statement without rows has no row number. Asking `description` instead would first describe every column.
        return [] if cursor.rownumber is None else cursor.fetchall()


def as_stored(at: datetime) -> Any:
    """Return the time in the form that the database stores."""
    return connections[DEFAULT_DB_ALIAS].ops.adapt_datetimefield_value(at)


def lock_study(study_pk: int) -> None:
    """Lock the study's row until the transaction ends."""
    if connections[DEFAULT_DB_ALIAS].features.has_select_for_update:
        execute("SELECT id FROM hits_study WHERE id = %s FOR UPDATE", study_pk)


def write_assignment(assignment: Assignment) -> None:
    _assignments.write(assignment)


def write_consent(assignment: Assignment) -> None:
    assert assignment.consented_at is not None
    execute(
        "UPDATE hits_assignment SET consented_at = %s, consent_version = %s WHERE id = %s",
        *(as_stored(assignment.consented_at), assignment.consent_version, assignment.pk),
    )


def has_submitted_before(assignment: Assignment) -> bool:
    """Return whether the worker has handed in another assignment of this study, as the marketplace confirms."""
    statement = """SELECT 1 FROM hits_assignment
        WHERE offering_id = %s AND crowd_worker_id = %s AND submitted_at IS NOT NULL
        AND confirmed_at IS NOT NULL AND id <> %s"""
    return _first(statement, assignment.offering_id, assignment.crowd_worker_id, assignment.pk) is not None


def write_submission(assignment: Assignment) -> None:
    assert assignment.submitted_at is not None
    execute(
        "UPDATE hits_assignment SET step = %s, feedback = %s, submitted_at = %s WHERE id = %s",
        *(assignment.step, assignment.feedback, as_stored(assignment.submitted_at), assignment.pk),
    )


def answer_to(assignment: Assignment, item_pk: int) -> Answer | None:
    """Return the assignment's answer to one item, or None."""
    return next(iter(_answers.read("WHERE assignment_id = %s AND item_id = %s", assignment.pk, item_pk)), None)


def answers_of(assignment: Assignment) -> dict[int, Answer]:
    """Return the assignment's answers, by the items' primary keys."""
    return {answer.item_id: answer for answer in _answers.read("WHERE assignment_id = %s", assignment.pk)}


def add_answer(answer: Answer) -> bool:
    """Insert the answer unless there is one, and return whether it was inserted."""
    return _answers.write(answer, "ON CONFLICT (assignment_id, item_id) DO NOTHING")


def write_answer(answer: Answer) -> None:
    """Insert the answer, or replace the one that is there."""
    _answers.write(answer, INSTEAD)


def checks_of(assignment: Assignment) -> list[BonusCheck]:
    """Return the assignment's checks, from the first attempt on."""
    return _checks.read("WHERE assignment_id = %s ORDER BY attempt", assignment.pk)


def write_check(check: BonusCheck) -> None:
    _checks.write(check)
