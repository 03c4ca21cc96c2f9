"""Stores results and bundles: when they were made, from what, and why they could not be made."""

from django.db import models
from django.db.models import Q

from evalplatform.background_work import BackgroundWork, BackgroundWorkQuerySet
from hits.models.offering import Offering
from hits.models.pool import Pool, Scope

ONE_SCOPE = Q(offering__isnull=False, pool=None) | Q(offering=None, pool__isnull=False)


class MadeFromRatings(BackgroundWork):
    """The last thing of its kind that a background process made from an offering's ratings, or from those of a pool of
    offerings, and whether it is requested again.

    `source` identifies the data that it was made from: when the data has changed, it is stale. `problem` says why it
    could not be made.
    """

    source = models.CharField(max_length=64, blank=True)
    problem = models.TextField(blank=True)

    objects = BackgroundWorkQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def scope(self) -> Scope:
        found: Scope | None = getattr(self, "offering", None) or getattr(self, "pool", None)
        if found is None:
            raise TypeError(f"{type(self).__name__} {self.pk} belongs to nothing.")
        return found


class StudyResults(MadeFromRatings):
    """Results as JSON that hits.analysing.serialising writes, with their figures.

    All of it is computed from the same ratings and stored, so that a page can show it without computing statistics.
    """

    offering = models.ForeignKey(Offering, null=True, on_delete=models.CASCADE, related_name="results")
    pool = models.ForeignKey(Pool, null=True, on_delete=models.CASCADE, related_name="results")
    results = models.TextField(blank=True)
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "study results"
        constraints = [
            models.UniqueConstraint(fields=["offering"], name="one_row_of_results_per_offering"),
            models.UniqueConstraint(fields=["pool"], name="one_row_of_results_per_pool"),
            models.CheckConstraint(condition=ONE_SCOPE, name="results_are_of_an_offering_or_a_pool"),
            models.CheckConstraint(
                condition=Q(results="") | Q(computed_at__isnull=False, source__gt=""),
                name="results_say_when_and_from_what",
            ),
        ]

    def __str__(self) -> str:
        return f"results of {self.scope}"


class RatedDialogs(models.Model):
    """What the last computation counted in each dialog (hits.analysing.rated_dialogs). It is a row of its own, since
    it grows with the study, and pages that show results do not need it."""

    offering = models.OneToOneField(Offering, on_delete=models.CASCADE, related_name="rated_dialogs")
    facts = models.JSONField(default=dict)

    class Meta:
        verbose_name_plural = "rated dialogs"

    def __str__(self) -> str:
        return f"rated dialogs of {self.offering}"


class StudyBundle(MadeFromRatings):
    """When the bundle of a scope was last made. The bundle itself is a file (hits.exporting.stored_bundles)."""

    offering = models.ForeignKey(Offering, null=True, on_delete=models.CASCADE, related_name="bundles")
    pool = models.ForeignKey(Pool, null=True, on_delete=models.CASCADE, related_name="bundles")
    made_at = models.DateTimeField(null=True)
    is_with_texts = models.BooleanField(default=False)  # whether the last request asked for texts of example dialogs

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["offering"], name="one_row_of_a_bundle_per_offering"),
            models.UniqueConstraint(fields=["pool"], name="one_row_of_a_bundle_per_pool"),
            models.CheckConstraint(condition=ONE_SCOPE, name="bundle_is_of_an_offering_or_a_pool"),
        ]

    def __str__(self) -> str:
        return f"bundle of {self.scope}"
