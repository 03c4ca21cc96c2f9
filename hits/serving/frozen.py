"""What never changes once a study is frozen, kept at hand: a save needs little, and needs it fast."""

from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.utils.safestring import SafeString

from hits.batching import card_order
from hits.designing.markdown import render_markdown
from hits.models import Hit, HitItem, Study
from hits.models.design import StudyDesign


@dataclass(frozen=True)
class FrozenStudy:
    pk: int
    design: StudyDesign
    welcome: SafeString
    instructions: SafeString
    consent: SafeString
    contact: SafeString


@dataclass(frozen=True)
class FrozenItem:
    pk: int
    position: int
    dataset: str
    external_id: str
    card_count: int
    gold_card: int | None  # set where the item is a checkpoint

    def order(self, seed: int, turn: int) -> list[int]:
        """The cards in the order in which the `turn`-th worker sees them: the card at each place."""
        return card_order(seed, self.dataset, self.external_id, self.card_count, turn)


@dataclass(frozen=True)
class FrozenHit:
    pk: int
    study: FrozenStudy
    number: int
    block: int
    assignments: int
    items: tuple[FrozenItem, ...]


@lru_cache(maxsize=64)
def frozen_study(key: UUID) -> FrozenStudy:
    study = Study.objects.frozen().get(key=key)
    design = StudyDesign.model_validate(study.design)
    task = design.task
    return FrozenStudy(
        study.pk,
        design,
        render_markdown(task.welcome),
        render_markdown(task.instructions),
        render_markdown(task.consent),
        render_markdown(task.contact),
    )


@lru_cache(maxsize=2048)
def frozen_hit(study_key: UUID, number: int) -> FrozenHit:
    """Raises Hit.DoesNotExist or Study.DoesNotExist."""
    study = frozen_study(study_key)
    hit = Hit.objects.get(study=study.pk, number=number)
    rows = HitItem.objects.filter(hit=hit).values_list(
        "pk", "position", "dialog__dataset__name", "dialog__external_id", "cards", "is_checkpoint"
    )
    items = tuple(
        FrozenItem(pk, position, dataset, external_id, len(cards), _gold_card(cards) if is_checkpoint else None)
        for pk, position, dataset, external_id, cards, is_checkpoint in rows.order_by("position")
    )
    return FrozenHit(hit.pk, study, hit.number, hit.block, hit.assignments, items)


def _gold_card(cards: list[dict[str, object]]) -> int:
    return next(number for number, card in enumerate(cards) if card["gold"])
