from django.db import models
from django.db.models import Q

from hits.models.hit import Hit, HitItem
from hits.models.publication import MarketEnvironment


class Assignment(models.Model):
    """A worker's work on a HIT, from when they open it. A marketplace may hand the same id to another worker later."""

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="opened_assignments")
    environment = models.CharField(max_length=10, choices=MarketEnvironment)
    mturk_assignment_id = models.CharField(max_length=64)
    mturk_worker_id = models.CharField(max_length=64)
    turn = models.PositiveIntegerField()  # the how-manieth to open these dialogs, from 0: it decides the cards' order
    opened_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["environment", "mturk_assignment_id", "mturk_worker_id"],
                name="one_assignment_per_worker_and_id",
            ),
            models.CheckConstraint(
                condition=~Q(mturk_assignment_id="") & ~Q(mturk_worker_id=""), name="assignment_has_its_ids"
            ),
        ]
        indexes = [models.Index(fields=["environment", "mturk_worker_id"], name="assignment_by_worker")]

    def __str__(self) -> str:
        return f"{self.mturk_assignment_id} of {self.hit}"


class Answer(models.Model):
    """What a worker said about one item, and in which order the cards stood before them.

    `value` belongs to the study's protocol: `{"areas": {"0": "good", ...}}` by the card's place in `HitItem.cards`.
    Likert ratings and comparisons are other keys of the same column, so that they need no migration of what exists.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="answers")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="answers")
    card_order = models.JSONField()
    value = models.JSONField()
    saved_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item"], name="one_answer_per_assignment_and_item")
        ]

    def __str__(self) -> str:
        return f"{self.item} by {self.assignment}"
