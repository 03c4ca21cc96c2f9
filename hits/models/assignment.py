"""Stores a worker's work on a HIT, its answers and bonus checks; says what counts towards a worker's limit."""

from datetime import datetime, timedelta

from django.db import models
from django.db.models import Q

from hits.models.hit import Hit, HitItem
from hits.models.offering import Offering

IS_CONFIRMED = Q(confirmed_at__isnull=False)
FIRST_ATTEMPT = 1  # the checks of an item are numbered from 1
IS_ONLY_VISITED = Q(confirmed_at=None, visited_from__gt="")


HAS_PLACE = Q(place__in=["held", "filled"])


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def done_or_in_hand(self, now: datetime, time_limit: timedelta) -> "AssignmentQuerySet":
        """Return the work that counts towards a worker's limit: what they submitted and what they are working on.

        Only work that the marketplace has confirmed counts, because anyone can open our page in somebody else's name.
        """
        in_hand = Q(submitted_at=None, taken_over_at=None, held_at__gt=now - time_limit)
        return self.filter(Q(submitted_at__isnull=False, ended_as="") | in_hand, confirmed_at__isnull=False)


class Assignment(models.Model):
    """A worker's work on a HIT, from the moment they open it. A marketplace may later give the same id to another
    worker."""

    class Ending(models.TextChoices):
        """How work ended that the marketplace never confirmed as submitted."""

        GIVEN_UP = "given up"  # returned or abandoned: the marketplace does not say which
        TAKEN_OVER = "taken over"
        UNCONFIRMED = "unconfirmed"  # handed in to us, but not to the marketplace

    class Place(models.TextChoices):
        """Whether the work has one of its HIT's places, where our page gives workers their HITs (serving.leases)."""

        NONE = ""  # the crowd hands out the HITs, and counts their places itself
        HELD = "held"  # leased: a worker is at it, and may be until the time limit is over
        FILLED = "filled"  # handed in
        FREED = "freed"  # returned, abandoned, or out of time, so that the place was free for somebody else
        EXTRA = "extra"  # handed in after that, when all places were taken: it counts and is paid, beyond the places

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="opened_assignments")
    # No index of its own: the indexes below begin with it.
    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="assignments", db_index=False)
    crowd_assignment_id = models.CharField(max_length=64)
    crowd_worker_id = models.CharField(max_length=64)
    rotation = models.PositiveIntegerField()  # by how many places this worker's cards are rotated, from 0
    opened_at = models.DateTimeField()
    # When the time limit began: when the worker accepted the HIT, if the marketplace tells us, else when they opened
    # our page. It is set again when the same worker accepts the HIT again.
    held_at = models.DateTimeField()
    # When the marketplace first told us that this worker holds the assignment (if it can tell) or has handed it in.
    confirmed_at = models.DateTimeField(null=True)
    # A keyed hash of the visitor's address while the visit is unconfirmed. It is emptied once that is settled.
    visited_from = models.CharField(max_length=16, blank=True)
    taken_over_at = models.DateTimeField(null=True)  # when another worker opened the same id
    held_again_at = models.DateTimeField(null=True)  # when a worker who was told of that said that they still hold it
    consented_at = models.DateTimeField(null=True)  # when the worker agreed to the study's consent text
    consent_version = models.CharField(max_length=64, blank=True, default="")  # the SHA-256 of that text
    step = models.CharField(max_length=20, default="welcome")
    feedback = models.TextField(blank=True)
    submitted_at = models.DateTimeField(null=True)  # on our page; it counts only once the marketplace confirms it
    ended_as = models.CharField(max_length=12, blank=True, choices=Ending)
    ended_at = models.DateTimeField(null=True)
    place = models.CharField(max_length=6, blank=True, default="", choices=Place)

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
        # The partial indexes keep opening a HIT cheap, however many visits were forged: it only reads confirmed work,
        # visits from the same address, and others who hold the same id.
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
            # Whose lease ends first; and whose work waits for a place.
            models.Index(fields=["offering", "held_at"], condition=Q(place="held"), name="assignment_leases"),
            models.Index(fields=["offering", "hit"], condition=Q(place="extra"), name="assignment_extras"),
        ]

    def __str__(self) -> str:
        return f"{self.crowd_assignment_id} of {self.hit}"


class Answer(models.Model):
    """What a worker said about one item, and in which order they saw the cards.

    `value` belongs to the study's protocol (hits.protocols) and names cards by their numbers in `HitItem.cards`.
    `moves` is a list of [active milliseconds, place on the page, what was chosen]. Times are as the browser reported
    them; hits.collecting.active_times says how much of them counts.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="answers")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="answers")
    card_order = models.JSONField()
    value = models.JSONField()
    revision = models.PositiveIntegerField(default=1)  # grows with each save, so that a tab with an older one is told
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
        """Return the checks that hits.protocols.checkpoints calls the first check."""
        return self.filter(attempt=FIRST_ATTEMPT)


class BonusCheck(models.Model):
    """One press of Bonus Validate: which placement was checked, when, and whether it would win.

    A check is feedback and evidence. What wins the point is the placement (hits.protocols.checkpoints). Rows are only
    added.
    """

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
