"""Makes the frame of what workers said twice: a row for each reply (in a comparison, each two) that came again.

    submission        int64     the Submission's id; worker, hit, dataset, external_id and criterion are those of the
                                ratings frame
    position          int16     where the dialog came again in the HIT, from 0
    card              int16     the card's number
    generator, opponent         as in the ratings frame; a card that stands for several models names the first one
    first, again      object    what was said at first, and when it came again
    origin            object    where the submission came from: people, simulation or rehearsal

The first answers make ratings, the second ones do not. The frame is empty where a study has no repeats.
"""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from hits.access import pseudonym
from hits.batching import candidates_of
from hits.collecting import repeated
from hits.frames.study_tables import NameWorker, confirmed_submissions
from hits.models import Answer, HitItem, Offering
from hits.protocols import protocol_of

COLUMNS = (
    *("submission", "worker", "hit", "dataset", "external_id", "position", "card", "criterion"),
    *("generator", "opponent", "first", "again", "origin"),
)


def said_twice_frame(offering: Offering, name_worker: NameWorker | None = None) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    if offering.study.parsed_design.checkpoints.repeats:
        rows = list(_rows(offering, name_worker or (lambda worker_id: pseudonym(offering.study, worker_id))))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(offering: Offering, name_worker: NameWorker) -> Iterator[tuple[Any, ...]]:
    protocol = protocol_of(offering.study.parsed_design)
    items = list(HitItem.objects.filter(hit__study=offering.study).select_related("hit", "dialog__dataset"))
    names = {pk: one.generator.name for pk, one in candidates_of(items).items()}
    by_key = {item.pk: item for item in items}
    of_hit: dict[int, list[HitItem]] = {}
    for item in items:
        of_hit.setdefault(item.hit_id, []).append(item)
    answers: dict[int, dict[int, Answer]] = {}
    wanted = {key for some in of_hit.values() for key in _of_repeats(some)}
    found = Answer.objects.filter(assignment__submission__in=confirmed_submissions(offering), item__in=wanted)
    for answer in found.select_related("assignment__submission").defer("assignment__submission__answer_xml"):
        answers.setdefault(answer.assignment_id, {})[answer.item_id] = answer
    for theirs in sorted(answers.values(), key=lambda some: next(iter(some.values())).assignment.submission.pk):
        assignment = next(iter(theirs.values())).assignment
        for shown, said in repeated(protocol, of_hit[assignment.hit_id], theirs):
            item = by_key[shown.pk]
            dialog = item.dialog
            yield (
                *(assignment.submission.pk, name_worker(assignment.crowd_worker_id), item.hit.number),
                *(dialog.dataset.name, dialog.external_id, item.position, said.card, said.criterion),
                *(names.get(said.candidate or 0, ""), names.get(said.opponent or 0, ""), said.first, said.again),
                assignment.submission.origin,
            )


def _of_repeats(items: list[HitItem]) -> list[int]:
    """Return the HIT's repeats, and the items that they show again."""
    repeats = [item for item in items if item.repeats is not None and item.told is None]
    shown = {item.repeats for item in repeats}
    return [item.pk for item in items if item in repeats or (item.repeats is None and item.position in shown)]
