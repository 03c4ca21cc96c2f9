"""Note what workers handed in, and take our rows of a study back to an earlier state, for the chaos benchmarks."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.db.models import Model

    from hits.models import Assignment, Study


@dataclass(frozen=True)
class HandedIn:
    """What a worker submitted, and whether it wins the bonus."""

    ratings: Counter[Any]
    has_won: bool
    hit_pk: int

    @classmethod
    def of(cls, assignment: "Assignment") -> "HandedIn":
        from hits.protocols import protocol_of

        protocol = protocol_of(assignment.hit.study.parsed_design)
        items = {item.pk: item for item in assignment.hit.items.all()}
        ratings: Counter[Any] = Counter()
        for answer in assignment.answers.all():
            for place, card in enumerate(answer.card_order):
                cards = items[answer.item_id].cards[card]
                for candidate in cards.writers:
                    for value in protocol.values_of_card(answer.value, card).values():
                        ratings[answer.item_id, candidate, card, place, value] += 1
        won = sum(protocol.value_passes(value) for (_, candidate, *_, value) in ratings if candidate is None)
        return cls(ratings, won >= assignment.hit.study.design["pay"]["bonus_points"], assignment.hit_id)


class Snapshot:
    """Our rows of a study, except for the study itself and its HITs. (The marketplace has its own database.)"""

    def __init__(self, study: "Study") -> None:
        self._study = study
        self._rows = {model: list(self._of_study(model, path)) for model, path in _tables()}

    def restore(self) -> None:
        from django.db import transaction

        with transaction.atomic():
            for model, path in reversed(_tables()):
                self._of_study(model, path).delete()
            for model, _ in _tables():
                model._base_manager.bulk_create(self._rows[model])
            _reset_ids([model for model, _ in _tables()])

    def _of_study(self, model: "type[Model]", path: str) -> Any:
        return model._base_manager.filter(**{path: self._study.pk})


def _tables() -> "list[tuple[type[Model], str]]":
    from hits import models

    return [
        (models.Offering, "study"),
        (models.SpendingCap, "offering__study"),
        (models.BonusList, "offering__study"),
        (models.HitPlaces, "offering__study"),
        (models.Publication, "hit__study"),
        (models.Replacement, "hit__study"),
        (models.Standing, "offering__study"),
        (models.Event, "study"),
        (models.Assignment, "hit__study"),
        (models.Answer, "assignment__hit__study"),
        (models.BonusCheck, "assignment__hit__study"),
        (models.Submission, "assignment__hit__study"),
        (models.Rating, "submission__assignment__hit__study"),
        (models.Payment, "submission__assignment__hit__study"),
    ]


def _reset_ids(models: "list[type[Model]]") -> None:
    """Reset the counters of ids. A restored database gives the same ids again, to other rows than before."""
    from django.core.management.color import no_style
    from django.db import connection

    statements = connection.ops.sequence_reset_sql(no_style(), models)
    if connection.vendor == "sqlite":
        tables = [model._meta.db_table for model in models]
        most = "coalesce((SELECT max(id) FROM {0}), 0)"
        statements = [f"UPDATE sqlite_sequence SET seq = {most.format(one)} WHERE name = '{one}'" for one in tables]
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def rating_key(rating: Any) -> tuple[Any, ...]:
    return rating.item_id, rating.candidate_id, rating.card, rating.place, rating.value
