"""Stores HITs and their items, which hold a dialog and its cards; people read HIT numbers from 1."""

from collections.abc import Sequence

from django.db import models
from django.db.models import Q

from generation.models import Dialog
from hits.models.cards import Card, CardsField, gold_card
from hits.models.study import Study


class HitQuerySet(models.QuerySet["Hit"]):
    def frozen(self) -> "HitQuerySet":
        """Return those that the study was frozen with; HITs for fourth votes were added later."""
        return self.filter(added_for=None)


class Hit(models.Model):
    """A page of work. The HITs of one block hold the same dialogs for different workers; no worker may work on two of
    them.

    A HIT for fourth votes is added while a study runs, for one offering. It is a block of its own, whose items are
    copies of frozen ones, so it shares items with their blocks (SharedBlock).
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="hits")
    number = models.PositiveIntegerField()
    block = models.PositiveIntegerField()
    assignments = models.PositiveSmallIntegerField()
    added_for = models.ForeignKey("hits.Offering", null=True, on_delete=models.PROTECT, related_name="added_hits")

    objects = HitQuerySet.as_manager()

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
    hash of the item's line in the study's manifest, which covers all its texts. A copy has that of its original.
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
    copy_of = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="copies")
    # The offering in which the copy asks for the fourth vote on its original. Copied checkpoints ask for none.
    fourth_vote_in = models.ForeignKey("hits.Offering", null=True, on_delete=models.PROTECT, related_name="+")

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
            # The last word on it: whatever runs at once, nobody is asked for a fifth vote.
            models.UniqueConstraint(fields=["copy_of", "fourth_vote_in"], name="one_fourth_vote_per_item_and_offering"),
        ]

    def __str__(self) -> str:
        return f"{self.hit} item {self.position}"

    @property
    def gold_card(self) -> int | None:
        return gold_card(self.cards)


class SharedBlock(models.Model):
    """Two blocks that show some of the same items. There is a row for each direction, so that `other` lists them all.

    Whoever has worked on the one gets nothing of the other.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="shared_blocks")
    block = models.PositiveIntegerField()
    other = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "block", "other"], name="one_row_per_pair_of_blocks"),
        ]

    def __str__(self) -> str:
        return f"blocks {self.block} and {self.other} of {self.study}"
