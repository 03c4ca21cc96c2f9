"""Make a study larger by copying its rows: the same HITs, work and ratings again, by other workers on other dialogs.

In: a database with one study, as benchmarks.ratings_data makes it. Out: the same with `times` as many dialogs, HITs,
workers and ratings. Filling it row by row takes two minutes for a million ratings, and this takes as long for ten.
"""

from collections.abc import Iterator

from django.db import connection, transaction
from django.db.models import ForeignKey, Max, Model

from generation.models import Candidate, Dialog
from hits.models import Answer, Assignment, BonusCheck, Hit, HitItem, Rating, Submission

COPIED = (Dialog, Candidate, Hit, HitItem, Assignment, Submission, Answer, BonusCheck, Rating)
NUMBERS = {(Hit, "number"), (Hit, "block")}
NAMES = {(Dialog, "external_id"), (Assignment, "crowd_assignment_id"), (Assignment, "crowd_worker_id")}


def copy_rows(times: int) -> None:
    """Every key grows by the same amount with each copy, so that copies refer to each other as the first rows do."""
    keys = [*(model.objects.aggregate(last=Max("pk"))["last"] or 0 for model in COPIED)]
    shift = max(*keys, *Hit.objects.aggregate(one=Max("number"), other=Max("block")).values()) + 1
    with transaction.atomic(), connection.cursor() as cursor:
        for model, last in zip(COPIED, keys, strict=True):
            names, cells = zip(*_cells(model), strict=True)
            table = connection.ops.quote_name(model._meta.db_table)
            for copy in range(1, times):
                cursor.execute(
                    f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(cells)} FROM {table} "
                    f"WHERE id <= {last}",
                    {"shift": copy * shift, "copy": f"-{copy}"},
                )


def _cells(model: type[Model]) -> Iterator[tuple[str, str]]:
    """Yield each column, and what a copy has in it."""
    for field in model._meta.concrete_fields:
        name = connection.ops.quote_name(str(field.column))
        refers = isinstance(field, ForeignKey) and field.remote_field.model in COPIED
        if field.primary_key or refers or (model, field.name) in NUMBERS:
            yield name, f"{name} + %(shift)s"
        elif (model, field.name) in NAMES:
            yield name, f"{name} || %(copy)s"
        else:
            yield name, name
