"""Stores submissions, which the crowd has confirmed, and their ratings; says which work counts, and which is kept."""

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Count, F, Q

from generation.models import Candidate
from hits.models.assignment import Assignment
from hits.models.hit import HitItem
from hits.models.offering import Offering

if TYPE_CHECKING:
    from hits.models.exclusion import ScreeningRun


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def waiting(self) -> "SubmissionQuerySet":
        """Return those that are neither approved nor rejected, as far as we have heard."""
        return self.filter(status=Submission.Status.SUBMITTED)

    def unpaid(self) -> "SubmissionQuerySet":
        """Return those that earn nothing: rejected, or given back."""
        return self.filter(status__in=Submission.EARNS_NOTHING)

    def undecided(self) -> "SubmissionQuerySet":
        """Return those that wait and have no reward in the ledger: neither a person nor the server approved them."""
        return self.waiting().exclude(payments__kind="reward")

    def with_answers(self) -> "SubmissionQuerySet":
        """Return those that have ratings. Frames, screening and results count only these."""
        return self.filter(problem="")

    def count_origins(self) -> dict[str, int]:
        """Return how many came from where, leaving out origins that there are none of."""
        return dict(self.order_by().values_list("origin").annotate(Count("pk")))

    def busiest_workers(self, least: int) -> dict[str, int]:
        """Return how many HITs each worker has handed in, for workers with at least `least` of them.

        A study's cap is about this number. HITs that a worker still holds are added when they ask for another
        (hits.serving.statements).
        """
        counted = self.order_by().values("assignment__crowd_worker_id").annotate(count=Count("pk"))
        return dict(counted.filter(count__gte=least).values_list("assignment__crowd_worker_id", "count"))


class Submission(models.Model):
    """An assignment that the marketplace confirms. It counts, and it is paid. Its answers are the Rating rows."""

    class Status(models.TextChoices):
        SUBMITTED = "Submitted"
        APPROVED = "Approved"
        REJECTED = "Rejected"
        RETURNED = "Returned"  # given back after it was handed in, because a researcher asked for it

    EARNS_NOTHING = (Status.REJECTED, Status.RETURNED)

    class Origin(models.TextChoices):
        """Where the work came from. It is decided when the work is collected (hits.crowds.origins), and never again."""

        PEOPLE = "people"  # the raters whom the study is for
        SIMULATION = "simulation"  # made-up workers
        REHEARSAL = "rehearsal"  # whoever tried the study out

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="submission")
    crowd_hit_id = models.CharField(
        max_length=64, blank=True, default=""
    )  # one HIT of ours may have had several ids, if it was put up again
    status = models.CharField(max_length=10, choices=Status)
    origin = models.CharField(max_length=10, choices=Origin)  # no default: whoever makes a row must say it
    accepted_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    auto_approval_at = models.DateTimeField(null=True)
    answer_xml = models.TextField()
    is_rebuilt = models.BooleanField(default=False)  # our answers were lost, or differed from the marketplace's copy
    problem = models.TextField(blank=True)  # why there are no ratings; empty if there are some
    # What its controls told (hits.collecting.controls_counted): how many attention checks it had and obeyed, and of how
    # many ratings that were asked for twice it gave the same.
    attention_checks = models.PositiveSmallIntegerField(default=0)
    attention_passed = models.PositiveSmallIntegerField(default=0)
    said_twice = models.PositiveSmallIntegerField(default=0)
    said_alike = models.PositiveSmallIntegerField(default=0)
    collected_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)  # when a person here approved or rejected it
    rejecting_at = models.DateTimeField(null=True)  # set just before we reject it, until the marketplace answers
    return_wanted_at = models.DateTimeField(null=True)  # set just before we ask the worker to give it back
    return_asked_at = models.DateTimeField(null=True)  # once the crowd has taken that request
    return_reason = models.TextField(blank=True, default="")

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(origin__in=["people", "simulation", "rehearsal"]), name="submission_has_an_origin"
            )
        ]

    def __str__(self) -> str:
        return f"submission of {self.assignment}"


class RatingQuerySet(models.QuerySet["Rating"]):
    def confirmed(self, offering: Offering) -> "RatingQuerySet":
        """Return all ratings that the crowd has confirmed. They are the ones in hits.frames."""
        # The same condition as `with_answers`, but as a join: a subquery would be slow for millions of ratings.
        return self.filter(submission__assignment__offering=offering, submission__problem="")

    def kept(self, run: "ScreeningRun | None") -> "RatingQuerySet":
        """Return the ratings that this screening does not exclude; all of them if there was no screening.

        hits.screening.masking applies the same rule to frames.
        """
        return self.exclude(_is_excluded(run)) if run else self

    def left_out(self, run: "ScreeningRun | None") -> "RatingQuerySet":
        return self.filter(_is_excluded(run)) if run else self.none()


def _is_excluded(run: "ScreeningRun") -> Q:
    """Return the condition under which a rating is excluded: by its submission, or by its worker.

    A worker's exclusion covers all their submissions, including later ones.
    """
    workers = run.exclusions.filter(submission=None).order_by().values("crowd_worker_id")
    submissions = run.exclusions.exclude(submission=None).order_by().values("submission")
    return Q(submission__assignment__crowd_worker_id__in=workers) | Q(submission__in=submissions)


class Rating(models.Model):
    """One reply, judged by one worker. A card that stands for several candidates makes a row for each of them.

    `candidate` is empty for the human reply. `value` comes from the protocol's scale for this criterion. In a
    comparison, `opponent` is the other reply. A comparison with the human reply is stored as the human reply's rating,
    so an empty opponent always means that nothing was compared. Rows are only added.
    """

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="ratings")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="ratings")
    candidate = models.ForeignKey(Candidate, null=True, on_delete=models.PROTECT, related_name="ratings")
    card = models.PositiveSmallIntegerField()  # its number in HitItem.cards
    place = models.PositiveSmallIntegerField()  # where it stood on the page
    criterion = models.CharField(max_length=30, default="overall")  # what was asked about
    value = models.CharField(max_length=30)
    opponent = models.ForeignKey(Candidate, null=True, on_delete=models.PROTECT, related_name="+")

    objects = RatingQuerySet.as_manager()

    class Meta:
        # One constraint for each of the four cases, because two NULLs never count as equal.
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "item", "criterion", "candidate"],
                condition=Q(candidate__isnull=False, opponent=None),
                name="one_rating_per_submission_and_candidate",
            ),
            models.UniqueConstraint(
                fields=["submission", "item", "criterion"],
                condition=Q(candidate=None, opponent=None),
                name="one_rating_of_the_human_reply",
            ),
            models.UniqueConstraint(
                fields=["submission", "item", "criterion", "candidate", "opponent"],
                condition=Q(candidate__isnull=False, opponent__isnull=False),
                name="one_rating_per_submission_and_comparison",
            ),
            models.UniqueConstraint(
                fields=["submission", "item", "criterion", "opponent"],
                condition=Q(candidate=None, opponent__isnull=False),
                name="one_rating_per_comparison_with_the_human_reply",
            ),
            models.CheckConstraint(condition=~Q(criterion=""), name="rating_has_a_criterion"),
            models.CheckConstraint(
                condition=Q(opponent=None) | Q(candidate=None) | ~Q(candidate=F("opponent")),
                name="rating_compares_two_replies",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.value} for card {self.card} of {self.item}"
