"""Loads what worker pages need of a frozen study, and holds it in this process's memory, since it never changes."""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Any
from uuid import UUID

from django.utils.safestring import SafeString

from evalplatform.errors import EvalPlatformError
from generation.display import display_text
from generation.models import Candidate
from hits.batching import rotate_cards, shuffle_cards
from hits.crowds import Visit, planned_crowd
from hits.designing import render_markdown
from hits.models import Hit, HitItem, Offering, Publication, Study
from hits.models.cards import Card, gold_card, living_cards
from hits.models.design import StudyDesign
from hits.protocols import Protocol, protocol_of

MOST_CACHED = 2048

_cached: OrderedDict[tuple[UUID, int, int], "FrozenHit"] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True)
class FrozenStudy:
    """A study as worker pages need it, with its texts as HTML."""

    pk: int
    key: UUID
    design: StudyDesign
    protocol: Protocol[Any]
    order_secret: bytes = field(repr=False)
    welcome: SafeString
    instructions: SafeString
    consent: SafeString
    contact: SafeString


@dataclass(frozen=True)
class FrozenItem:
    """An item as worker pages need it."""

    pk: int
    position: int
    dataset: str
    external_id: str
    turns: list[str]
    cards: tuple[Card, ...]  # without the models that were dropped before the HIT was published
    texts: tuple[str, ...]  # the text of each card, as shown
    gold_card: int | None  # None unless the item is a checkpoint
    shuffled: tuple[int, ...]  # the cards as the first rotation shows them
    repeats: int | None  # of a control: the position of the item that it shows again
    told: int | None  # of an attention check: which answer it tells (hits.protocols.controls)
    told_words: str

    @property
    def card_count(self) -> int:
        """Return how many cards the page shows."""
        return sum(card.is_shown for card in self.cards)

    def order(self, rotation: int, turned: Collection[int] = ()) -> list[int]:
        """Return the card at each place on the page, for the worker with this rotation, whose items at the positions
        `turned` are rotated by one place more. A control shows them the other way round than the item that it repeats,
        so that nobody answers it by the places."""
        shown = [card for card in self.shuffled if self.cards[card].is_shown]
        if self.repeats is None:
            return rotate_cards(shown, rotation + (self.position in turned))
        return rotate_cards(shown, rotation + (self.repeats in turned))[::-1]


@dataclass(frozen=True)
class FrozenHit:
    """A HIT as worker pages need it."""

    pk: int
    study: FrozenStudy
    number: int
    block: int
    block_hits: tuple[int, ...]  # all HITs with the same dialogs, including this one
    assignments: int
    items: tuple[FrozenItem, ...]

    @property
    def card_counts(self) -> dict[int, int]:
        """Return how many cards each item has, by the item's primary key."""
        return {item.pk: item.card_count for item in self.items}


@lru_cache(maxsize=64)
def frozen_study(key: UUID) -> FrozenStudy:
    """Return the frozen study with this key. Raises Study.DoesNotExist."""
    study = Study.objects.frozen().get(key=key)
    return _with_texts(study.pk, key, study.parsed_design, secret_of(study))


def drafted_study(design: StudyDesign) -> FrozenStudy:
    """Return what a page needs of a study that is still being designed. It has no row, no key and no secret."""
    return _with_texts(0, UUID(int=0), design, b"")


def _with_texts(pk: int, key: UUID, design: StudyDesign, secret: bytes) -> FrozenStudy:
    task = design.task
    texts = (render_markdown(text) for text in (task.welcome, task.instructions, task.consent, task.contact))
    return FrozenStudy(pk, key, design, protocol_of(design), secret, *texts)


@lru_cache(maxsize=256)
def _known_offering(study_key: UUID, crowd: str, environment: str) -> Offering:
    # Only fields that never change; its address, for example, may change.
    ours = Offering.objects.only("study_id", "crowd", "environment")
    return ours.get(study__key=study_key, crowd=crowd, environment=environment)


def frozen_offering(study_key: UUID, visit: Visit) -> Offering | None:
    """Return the study's offering that the visit comes from, or None where nothing of it was ever offered."""
    try:
        return _known_offering(study_key, visit.crowd, visit.environment)
    except Offering.DoesNotExist:
        return None


def secret_of(study: Study) -> bytes:
    """Return the secret of the study's card orders."""
    if not study.order_secret:
        raise EvalPlatformError(
            f"{study} was frozen before card orders were secret, and can't be served: copy it and build the copy."
        )
    return bytes.fromhex(study.order_secret)


def frozen_hit(study_key: UUID, number: int, offering: Offering | None = None) -> FrozenHit:
    """Return the HIT, loaded once for all its openings and saves. Raises Hit.DoesNotExist or Study.DoesNotExist.

    In an offering, it shows what was published there: without models that had been dropped by then. Without one, it is
    the HIT as it was built.
    """
    if not frozen_study(study_key).design.analysis.drop_losers:
        offering = None
    with _lock:
        cached = _cached.get((study_key, number, offering.pk if offering else 0))
    return _load_hit(study_key, number, offering) if cached is None else cached


def _load_hit(study_key: UUID, number: int, offering: Offering | None) -> FrozenHit:
    study = frozen_study(study_key)
    dropped_models = _dropped_models(study, number, offering)
    rows = HitItem.objects.filter(hit__study=study.pk, hit__number=number).order_by("position")
    values = list(
        rows.values_list(
            *("hit", "hit__block", "hit__assignments", "pk", "position", "cards"),
            *("dialog__dataset__name", "dialog__external_id", "dialog__turns", "dialog__gold"),
            *("repeats", "told", "told_words"),
        )
    )
    if not values:
        raise Hit.DoesNotExist
    pk, block, assignments = values[0][:3]
    items = _make_items(study, values, dropped_models or ())
    hit = FrozenHit(pk, study, number, block, _hits_of_block(study, pk, number, block), assignments, items)
    if dropped_models is None:  # it is not published there yet, and models may still be dropped
        return hit
    with _lock:
        _cached[study_key, number, offering.pk if offering else 0] = hit
        if len(_cached) > MOST_CACHED:
            _cached.popitem(last=False)
    return hit


def _dropped_models(study: FrozenStudy, number: int, offering: Offering | None) -> Collection[str] | None:
    """Return the generators that had been dropped when the HIT was published; None if it is not published yet."""
    if offering is None:
        return ()
    there = Publication.objects.filter(offering=offering, hit__study=study.pk, hit__number=number)
    return there.current().values_list("dropped_models", flat=True).first()


def _make_items(
    study: FrozenStudy, rows: list[tuple[Any, ...]], dropped_models: Collection[str]
) -> tuple[FrozenItem, ...]:
    shown = {card.candidates[0] for row in rows for card in row[5] if card.candidates}
    texts = dict(Candidate.objects.filter(pk__in=shown).values_list("pk", "display_text"))
    dropped: set[int] = set()
    if dropped_models:
        every = {pk for row in rows for card in row[5] for pk in card.candidates}
        of_dropped = Candidate.objects.filter(pk__in=every, generator__name__in=dropped_models)
        dropped = set(of_dropped.values_list("pk", flat=True))
    return tuple(_make_item(study, row, texts, dropped) for row in rows)


def _make_item(study: FrozenStudy, row: tuple[Any, ...], texts: dict[int, str], dropped: Collection[int]) -> FrozenItem:
    _, _, _, pk, position, cards, dataset, external_id, turns, gold, *of_control = row
    found = (texts[card.candidates[0]] if card.candidates else display_text(gold, turns) for card in cards)
    shown = tuple(map(study.design.shown, found))
    shuffled = tuple(shuffle_cards(study.order_secret, dataset, external_id, len(cards)))
    living = living_cards(cards, dropped)
    told = (living, shown, gold_card(cards), shuffled, *of_control)
    return FrozenItem(pk, position, dataset, external_id, turns, *told)


def _hits_of_block(study: FrozenStudy, pk: int, number: int, block: int) -> tuple[int, ...]:
    """Return the HITs with the same dialogs. They have neighbouring numbers, which are indexed; usually a block is
    one HIT."""
    hits_per_block = len(planned_crowd(study.design).fees.split_assignments(study.design.hits.assignments))
    if hits_per_block == 1:
        return (pk,)
    near = Hit.objects.filter(study=study.pk, number__gt=number - hits_per_block, number__lt=number + hits_per_block)
    return tuple(near.filter(block=block).values_list("pk", flat=True))
