from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q

from hits.models.hit import Hit, HitItem
from hits.models.offering import Offering

IS_CONFIRMED = Q(confirmed_at__isnull=False)
FIRST_ATTEMPT = 1  # checks of an item are numbered from here
IS_ONLY_VISITED = Q(confirmed_at=None, visited_from__gt="")


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def done_or_in_hand(self, now: datetime, time_limit: timedelta) -> "AssignmentQuerySet":
        """What counts towards a worker's limit: what was submitted, and what is being worked on, and of both only what
        the marketplace has confirmed: anyone can open our page in somebody's name."""
        in_hand = Q(submitted_at=None, taken_over_at=None, held_at__gt=now - time_limit)
        return self.filter(Q(submitted_at__isnull=False, ended_as="") | in_hand, confirmed_at__isnull=False)


class Assignment(models.Model):
    """A worker's work on a HIT, from when they open it. A marketplace may hand the same id to another worker later."""

    class Ending(models.TextChoices):
        """Without a submission that the marketplace confirms."""

        GIVEN_UP = "given up"  # returned, or abandoned: the marketplace does not tell us which
        TAKEN_OVER = "taken over"
        UNCONFIRMED = "unconfirmed"  # handed in to us, and not to the marketplace

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="opened_assignments")
    # Without an index of its own: those below begin with it.
    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="assignments", db_index=False)
    crowd_assignment_id = models.CharField(max_length=64)
    crowd_worker_id = models.CharField(max_length=64)
    rotation = models.PositiveIntegerField()  # by how many places the cards are rotated, from 0
    opened_at = models.DateTimeField()
    # Since when the time runs: since the worker accepted, where the marketplace says when that was, else since our page
    # was opened. Anew when the same worker accepts it again.
    held_at = models.DateTimeField()
    # When the marketplace said that it is this worker's: held by them (where it can tell), or handed in.
    confirmed_at = models.DateTimeField(null=True)
    # Whose visit it was as long as nothing is confirmed: a keyed hash of the address. Emptied when that is settled.
    visited_from = models.CharField(max_length=16, blank=True)
    taken_over_at = models.DateTimeField(null=True)  # when another worker opened the same id
    kept_at = models.DateTimeField(null=True)  # when the worker, told so, said that they hold it after all
    consented_at = models.DateTimeField(null=True)  # when the worker agreed to the study's consent text
    consent_version = models.CharField(max_length=64, blank=True, default="")  # of that text: its SHA-256
    step = models.CharField(max_length=20, default="welcome")
    feedback = models.TextField(blank=True)
    submitted_at = models.DateTimeField(null=True)  # by our page; what counts is that the marketplace confirms it
    ended_as = models.CharField(max_length=12, blank=True, choices=Ending)
    ended_at = models.DateTimeField(null=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["offering", "crowd_assignment_id", "crowd_worker_id"],
                name="one_assignment_per_worker_and_id",
            ),
            models.CheckConstraint(
                condition=~Q(crowd_assignment_id="") & ~Q(crowd_worker_id=""), name="assignment_has_its_ids"
            ),
        ]
        # The partial ones keep an opening as cheap as it is whatever number of visits was forged: it looks at what is
        # confirmed, at what came from its own address, and at who else has the same id in hand.
        indexes = [
            models.Index(fields=["offering", "crowd_worker_id"], name="assignment_by_worker"),
            models.Index(fields=["hit", "offering"], condition=IS_CONFIRMED, name="assignment_confirmed_of_hit"),
            models.Index(
                fields=["offering", "crowd_worker_id"], condition=IS_CONFIRMED, name="assignment_confirmed_of_worker"
            ),
            models.Index(
                fields=["visited_from", "crowd_worker_id"],
                condition=IS_ONLY_VISITED,
                name="assignment_visits_of_worker",
            ),
            models.Index(
                fields=["visited_from", "opened_at"], condition=IS_ONLY_VISITED, name="assignment_visits_lately"
            ),
            models.Index(
                fields=["offering", "crowd_assignment_id"],
                condition=Q(submitted_at=None, taken_over_at=None),
                name="assignment_in_hand",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.crowd_assignment_id} of {self.hit}"


class Answer(models.Model):
    """What a worker said about one item, and in which order the cards stood before them.

    `value` belongs to the study's protocol (hits.protocols), by the cards' numbers in `HitItem.cards`.
    `moves` is a list of [active milliseconds, place on the page, what was chosen]. Times are as the page told
    them: what counts of them is said by hits.collecting.active_times.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="answers")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="answers")
    card_order = models.JSONField()
    value = models.JSONField()
    revision = models.PositiveIntegerField(default=1)  # one more with each save: a tab that saw an older one is told
    active_ms = models.PositiveIntegerField(default=0)
    hidden_ms = models.PositiveIntegerField(default=0)
    moves = models.JSONField(default=list)
    problem = models.TextField(blank=True)  # what the worker says is wrong with this dialog
    saved_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item"], name="one_answer_per_assignment_and_item")
        ]

    def __str__(self) -> str:
        return f"{self.item} by {self.assignment}"


class BonusCheckQuerySet(models.QuerySet["BonusCheck"]):
    def first_attempts(self) -> "BonusCheckQuerySet":
        """What hits.protocols.checkpoints calls the first check."""
        return self.filter(attempt=FIRST_ATTEMPT)


class BonusCheck(models.Model):
    """A press of Bonus Validate: which placement was checked, when, and whether it would win. It is feedback and
    evidence; what wins is the placement (hits.protocols.checkpoints). Append-only."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="bonus_checks")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="bonus_checks")
    attempt = models.PositiveSmallIntegerField()
    value = models.JSONField()  # as in Answer
    is_won = models.BooleanField()
    active_ms = models.PositiveIntegerField()
    checked_at = models.DateTimeField()

    objects = BonusCheckQuerySet.as_manager()

    class Meta:
        ordering = ["attempt"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item", "attempt"], name="one_check_per_item_and_attempt")
        ]

    def __str__(self) -> str:
        return f"attempt {self.attempt} at {self.item} by {self.assignment}"

    @property
    def is_first(self) -> bool:
        return self.attempt == FIRST_ATTEMPT
