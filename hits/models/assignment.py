"""Stores a worker's work on a HIT, its answers and bonus checks; says which work is in hand or handed in."""

from datetime import datetime

from django.db import models
from django.db.models import Q

from hits.models.hit import Hit, HitItem
from hits.models.offering import Offering

IS_CONFIRMED = Q(confirmed_at__isnull=False)
FIRST_ATTEMPT = 1  # the checks of an item are numbered from 1
IS_ONLY_VISITED = Q(confirmed_at=None, visited_from__gt="")
# AssignmentQuerySet.in_hand_or_handed_in for statements that are written in SQL. Its parameter is `held_after`.
IN_HAND_OR_HANDED_IN = "ended_as = '' AND (submitted_at IS NOT NULL OR taken_over_at IS NULL AND held_at > %s)"


HAS_PLACE = Q(place__in=["held", "filled"])


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def in_hand_or_handed_in(self, held_after: datetime) -> "AssignmentQuerySet":
        """Return the work that fills a place of its HIT and counts towards its worker's limit.

        `held_after` is the time limit before now: work that began earlier, and was not handed in, is over.
        """
        in_hand = Q(taken_over_at=None, held_at__gt=held_after)
        return self.filter(Q(submitted_at__isnull=False) | in_hand, ended_as="")

    def confirmed(self) -> "AssignmentQuerySet":
        """Return the work that the marketplace has confirmed. Anyone can open our page in somebody else's name."""
        return self.filter(IS_CONFIRMED)


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
    # The positions of items that are rotated by one place more, so that this worker sees each model of a pair on each
    # side equally often (serving.sides).
    turned = models.JSONField(default=list)
    opened_at = models.DateTimeField()
    # When the time limit began: when the worker accepted the HIT, if the marketplace tells us, else when they opened
    # our page. It is set again when the same worker accepts the HIT again.
    held_at = models.DateTimeField()
    # When the marketplace first told us that this worker holds the assignment (if it can tell) or has handed it in.
    confirmed_at = models.DateTimeField(null=True)
    # A keyed hash of the visitor's address while the visit is unconfirmed, and emptied once that is settled. Of people
    # who came by an open link, whom nobody can confirm, it is kept for a day.
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
    revoked_at = models.DateTimeField(null=True)  # when the worker's invitation was revoked before this was handed in

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
            # How many places one address has taken by open links.
            models.Index(
                fields=["visited_from", "offering"],
                condition=Q(confirmed_at__isnull=False, visited_from__gt=""),
                name="assignment_joined_from",
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
    """One press of Bonus Validate: which answer was checked, when, and whether it passed.

    A check is feedback and evidence. What wins the point is the answer (hits.protocols.checkpoints). What was
    checked stays: rebuilding lost answers (hits.serving.copies) writes the known checks again, numbered by their times.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="bonus_checks")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="bonus_checks")
    attempt = models.PositiveSmallIntegerField()
    value = models.JSONField()  # as in Answer
    is_passed = models.BooleanField()
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
