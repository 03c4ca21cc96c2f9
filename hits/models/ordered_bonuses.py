"""Stores lists of bonuses that a crowd pays by one order, with every step of it, so that none is ever ordered twice."""

from django.db import models
from django.db.models import Q

from hits.models.offering import Offering


class BonusListQuerySet(models.QuerySet["BonusList"]):
    def to_withdraw(self) -> "BonusListQuerySet":
        """Return those whose order was surely refused, as long as their payments still wait to be freed."""
        return self.exclude(refused_at=None).filter(payments__isnull=False).distinct()


class BonusList(models.Model):
    """A list of bonuses on a crowd. Creating it moves no money; ordering its payment does, each time it is asked.

    Its steps, each saved before the next begins: intended, created there (it has an id), paying (from now on it may be
    paid, and is never ordered again), and then either ordered or refused. A list that stays at "paying" got no answer.
    """

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="bonus_lists")
    crowd_list_id = models.CharField(max_length=64, blank=True)
    cents = models.PositiveIntegerField()  # of its bonuses, without fees
    total_cents = models.PositiveIntegerField(null=True)  # with fees and tax, as the crowd says
    intended_at = models.DateTimeField()
    paying_at = models.DateTimeField(null=True)
    ordered_at = models.DateTimeField(null=True)  # when the crowd said that it pays
    refused_at = models.DateTimeField(null=True)  # when it said that it does not
    answer = models.TextField(blank=True)  # what went wrong, in the crowd's words

    objects = BonusListQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["offering", "crowd_list_id"], condition=~Q(crowd_list_id=""), name="one_row_per_bonus_list"
            ),
            models.CheckConstraint(
                condition=Q(paying_at=None) | ~Q(crowd_list_id=""), name="bonus_list_has_an_id_before_it_is_paid"
            ),
            models.CheckConstraint(
                condition=Q(ordered_at=None, refused_at=None)
                | (Q(paying_at__isnull=False) & (Q(ordered_at=None) | Q(refused_at=None))),
                name="bonus_list_is_ordered_or_refused",
            ),
        ]

    def __str__(self) -> str:
        return f"bonuses of {self.cents} cents on {self.offering}"
