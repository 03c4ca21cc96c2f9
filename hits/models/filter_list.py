"""Stores which filters a crowd listed when it was last asked, so that the study form need not ask each time."""

from django.db import models


class FilterList(models.Model):
    crowd = models.CharField(max_length=20)
    environment = models.CharField(max_length=20)
    listed_at = models.DateTimeField()
    filters = models.JSONField(default=list)  # of hits.crowds.filter_lists.ListedFilter, as tables

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["crowd", "environment"], name="one_list_of_filters_per_marketplace")
        ]

    def __str__(self) -> str:
        return f"{len(self.filters)} filters of {self.crowd}"
