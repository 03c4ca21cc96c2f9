from django.db import models
from django.db.models import Q

from evalplatform.background_work import BackgroundWork, BackgroundWorkQuerySet
from hits.models.offering import Offering


class MadeFromRatings(BackgroundWork):
    """What a background process made last of a study's ratings on a marketplace, and that it is asked for anew.

    `source` names what it was made from: where that has changed, it is stale. `problem` says why it could not be made.
    """

    source = models.CharField(max_length=64, blank=True)
    problem = models.TextField(blank=True)

    objects = BackgroundWorkQuerySet.as_manager()

    class Meta:
        abstract = True


class StudyResults(MadeFromRatings):
    """`results` is JSON as hits.analysing.serialising writes it; `figures` and `disputed` are drawn and counted
    from the same ratings, so that showing them takes no statistics."""

    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="results")
    results = models.TextField(blank=True)
    figures = models.JSONField(default=dict)
    disputed = models.JSONField(default=list)
    computed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "study results"
        constraints = [
            models.UniqueConstraint(fields=["offering"], name="one_row_of_results_per_offering"),
            models.CheckConstraint(
                condition=Q(results="") | Q(computed_at__isnull=False, source__gt=""),
                name="results_say_when_and_from_what",
            ),
        ]

    def __str__(self) -> str:
        return f"results of {self.offering}"


class StudyBundle(MadeFromRatings):
    """The bundle itself is a file (hits.exporting.kept_bundles)."""

    offering = models.ForeignKey(Offering, on_delete=models.CASCADE, related_name="bundles")
    made_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["offering"], name="one_row_of_a_bundle_per_offering")]

    def __str__(self) -> str:
        return f"bundle of {self.offering}"
