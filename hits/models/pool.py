"""Stores pools: the offerings of a study whose work has the same origin, put together in one result."""

from typing import Any

from django.db import models

from hits.models.offering import Offering
from hits.models.study import Study
from hits.models.submission import Submission

TOGETHER = "together"  # stands where a marketplace's name has its crowd; no crowd may be called so


class Pool(models.Model):
    """All offerings of a study whose work came from people, or all that were simulated, or all that were rehearsed.
    Work of different origin is never in the same pool.

    The row says nothing more: hits.analysing.pooling finds the offerings. It exists so that results and bundles can
    belong to a pool as they belong to an offering.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="pools")
    origin = models.CharField(max_length=10, choices=Submission.Origin)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "origin"], name="one_pool_per_study_and_origin"),
            models.CheckConstraint(
                condition=models.Q(origin__in=["people", "simulation", "rehearsal"]), name="pool_has_an_origin"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study} on {self.marketplace}"

    @property
    def marketplace(self) -> str:
        """Return what addresses, commands and the API call it where they name a marketplace: `together.people`."""
        return f"{TOGETHER}.{self.origin}"


# What results and bundles are about.
Scope = Offering | Pool


def origin_of_pool(marketplace: str) -> str:
    """Return the origin that the name of a pool stands for; "" if it is no pool's name.

    >>> origin_of_pool("together.people"), origin_of_pool("sandbox")
    ('people', '')
    """
    crowd, _, origin = marketplace.partition(".")
    return origin if crowd == TOGETHER and origin in Submission.Origin.values else ""


def of_scope(scope: Scope) -> dict[str, Any]:
    """Return the columns of a row of results, or of a bundle, that belongs to this scope."""
    return {"pool": scope} if isinstance(scope, Pool) else {"offering": scope}
