"""Stores HITs and their items, which hold a dialog and its cards; people read HIT numbers from 1."""

from collections.abc import Sequence

from django.db import models
from django.db.models import Q

from generation.models import Dialog
from hits.models.cards import Card, CardsField, gold_card
from hits.models.study import Study


class Hit(models.Model):
    """A page of work. The HITs of one block hold the same dialogs for different workers; no worker may work on two of
    them."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="hits")
    number = models.PositiveIntegerField()
    block = models.PositiveIntegerField()
    assignments = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="one_hit_per_study_and_number"),
            models.CheckConstraint(condition=Q(assignments__gte=1), name="hit_has_assignments"),
        ]

    def __str__(self) -> str:
        return f"{self.study} HIT {self.shown_number}"

    @property
    def shown_number(self) -> int:
        """Return the number that people read, which starts at 1. `number`, in addresses, files and on the marketplace,
        starts at 0."""
        return self.number + 1


class HitItem(models.Model):
    """A dialog at a position in a HIT, with its cards.

    `cards` are in canonical order: the generators as the design lists them, then the human reply if it has a card of
    its own. Their order on the page, and their texts, are decided when a worker opens the HIT. `content_hash` is the
    hash of the item's line in the study's manifest, which covers all its texts.
    """

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="items")
    position = models.PositiveSmallIntegerField()
    dialog = models.ForeignKey(Dialog, on_delete=models.PROTECT, related_name="+")
    is_checkpoint = models.BooleanField()
    cards: "models.Field[Sequence[Card], Sequence[Card]]" = CardsField()
    content_hash = models.CharField(max_length=64)
    # Only a control has these (hits.protocols.controls): the position of the item that it shows again, and for an
    # attention check, which answer it tells and in which words.
    repeats = models.PositiveSmallIntegerField(null=True)
    told = models.PositiveSmallIntegerField(null=True)
    told_words = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["hit", "position"], name="one_item_per_hit_and_position"),
            models.UniqueConstraint(
                fields=["hit", "dialog"], condition=Q(repeats=None), name="one_item_per_hit_and_dialog"
            ),
            models.CheckConstraint(
                condition=Q(told=None) | Q(repeats__isnull=False), name="attention_check_shows_an_item_again"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hit} item {self.position}"

    @property
    def gold_card(self) -> int | None:
        return gold_card(self.cards)
