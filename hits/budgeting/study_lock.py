"""Locks a study's row: of all processes that ask for work, or make card orders public, one at a time decides."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from hits.models import Study


@contextmanager
def spending(study: Study) -> Iterator[None]:
    """Lock the study's row until the end of the block.

    SQLite has no locks on rows: there, a transaction locks the whole file when it begins (transaction_mode IMMEDIATE).
    """
    with transaction.atomic():
        # no_key lets others go on adding rows that refer to the study, such as workers' assignments.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        yield
