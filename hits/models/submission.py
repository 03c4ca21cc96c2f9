from django.db import models
from django.db.models import F, Q

from generation.models import Candidate
from hits.models.assignment import Assignment
from hits.models.hit import HitItem


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def waiting(self) -> "SubmissionQuerySet":
        """Neither approved nor rejected, as far as we have heard."""
        return self.filter(status=Submission.Status.SUBMITTED)

    def undecided(self) -> "SubmissionQuerySet":
        """Waiting, and not in the ledger either: nobody and nothing has approved it yet."""
        return self.waiting().exclude(payments__kind="reward")


class Submission(models.Model):
    """That the marketplace confirms an assignment: what counts, and what is paid. Its answers are the Rating rows."""

    class Status(models.TextChoices):
        SUBMITTED = "Submitted"
        APPROVED = "Approved"
        REJECTED = "Rejected"

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="submission")
    crowd_hit_id = models.CharField(max_length=64, blank=True, default="")  # a HIT of ours may be put up again
    status = models.CharField(max_length=10, choices=Status)
    accepted_at = models.DateTimeField()
    submitted_at = models.DateTimeField()
    auto_approval_at = models.DateTimeField(null=True)
    answer_xml = models.TextField()
    is_rebuilt = models.BooleanField(default=False)  # our answers were gone, or differed from the marketplace's copy
    problem = models.TextField(blank=True)  # why there are no ratings, where there are none
    collected_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)  # when a person here approved or rejected it
    rejecting_at = models.DateTimeField(null=True)  # when we were about to reject it, until the marketplace's word

    objects = SubmissionQuerySet.as_manager()

    def __str__(self) -> str:
        return f"submission of {self.assignment}"


class Rating(models.Model):
    """One reply, judged by one worker. A card that stands for several candidates makes a row for each of them.

    `candidate` is empty for the human reply. `value` is one of the protocol's scale for this criterion. In a
    comparison, `opponent` is the reply that it was compared with; a comparison with the human reply is stored as the
    human reply's, so that no opponent always means that nothing was compared. Append-only.
    """

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="ratings")
    item = models.ForeignKey(HitItem, on_delete=models.PROTECT, related_name="ratings")
    candidate = models.ForeignKey(Candidate, null=True, on_delete=models.PROTECT, related_name="ratings")
    card = models.PositiveSmallIntegerField()  # in HitItem.cards
    place = models.PositiveSmallIntegerField()  # where it stood on the page
    criterion = models.CharField(max_length=30, default="overall")  # what was asked about
    value = models.CharField(max_length=30)
    opponent = models.ForeignKey(Candidate, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        # One for each of the four cases, since NULLs are never equal to each other in SQLite.
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
