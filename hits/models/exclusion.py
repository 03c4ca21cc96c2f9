"""Stores screening runs and whom each excludes; the newest run that was not undone is the current one."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from hits.models.offering import Offering
from hits.models.submission import Submission


class ScreeningRunQuerySet(models.QuerySet["ScreeningRun"]):
    def current(self, offering: Offering) -> "ScreeningRun | None":
        """Return the newest run that was not undone. Results are computed by it."""
        return self.filter(offering=offering, undone_at=None).first()


class ScreeningRun(models.Model):
    """One screening of an offering's work: by which rules, and how many each rule left.

    `rules` is JSON as in a study file, `funnel` as hits.screening.funnel writes it. A run never changes, except that it
    can be undone.
    """

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="screening_runs")
    rules = models.JSONField()
    is_frozen_rules = models.BooleanField()  # the rules the study was frozen with; if not, the run is exploratory
    funnel = models.JSONField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)

    objects = ScreeningRunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"screening of {self.offering}"

    @property
    def kind(self) -> str:
        return "by the study's own rules" if self.is_frozen_rules else "exploratory, by other rules"


class Exclusion(models.Model):
    """A worker, or a single submission, that a rule excludes from the results, and why. Nobody's pay depends on it.

    `step` is the rule's index among the run's rules. `evidence` holds plain facts, such as `{"share": 0.98,
    "answer": "good", "cards": 215}`.
    """

    run = models.ForeignKey(ScreeningRun, on_delete=models.PROTECT, related_name="exclusions")
    step = models.PositiveSmallIntegerField()
    rule = models.CharField(max_length=40)
    parameters = models.JSONField()
    crowd_worker_id = models.CharField(max_length=64, blank=True)
    submission = models.ForeignKey(Submission, null=True, on_delete=models.PROTECT, related_name="exclusions")
    evidence = models.JSONField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "step", "crowd_worker_id"],
                condition=~Q(crowd_worker_id=""),
                name="one_exclusion_per_rule_and_worker",
            ),
            models.UniqueConstraint(
                fields=["run", "step", "submission"],
                condition=Q(submission__isnull=False),
                name="one_exclusion_per_rule_and_submission",
            ),
            models.CheckConstraint(
                condition=Q(crowd_worker_id="", submission__isnull=False)
                | Q(crowd_worker_id__gt="", submission__isnull=True),
                name="exclusion_is_of_a_worker_or_a_submission",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule} in {self.run}"
