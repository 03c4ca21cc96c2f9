"""Stores offerings (one study on one crowd and environment), and makes the names of marketplaces."""

from django.db import models

from hits.models.design import USUAL_CROWD
from hits.models.study import Study


class Offering(models.Model):
    """One study, offered on one crowd and environment. Whatever is published, answered, paid, screened and computed
    there belongs to this row.

    The row alone does not mean that anything was published: `offering_for` creates it when anybody first asks about the
    study there.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="offerings")
    crowd = models.CharField(max_length=20, default=USUAL_CROWD)  # a name in hits.crowds.registry
    environment = models.CharField(max_length=20)  # a name among that crowd's own
    # The worker page of the server that published it. A server with a copy of the database has another address.
    page_url = models.TextField(blank=True, default="")
    # What the crowd's own folder has to remember, such as ids that the crowd gave us. Nobody else reads it.
    crowd_notes = models.JSONField(default=dict)
    # Where only a researcher knows who works: since when they are the study's real raters. Work that was accepted
    # earlier was a rehearsal (hits.crowds.origins).
    raters_since = models.DateTimeField(null=True)
    bonuses_seen_at = models.DateTimeField(null=True)  # when we last read all bonuses that were paid there

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "crowd", "environment"], name="one_offering_per_study_crowd_and_environment"
            )
        ]

    def __str__(self) -> str:
        return f"{self.study} on {self.marketplace}"

    @property
    def currency(self) -> str:
        """Return the currency of all cents of this offering: its study's."""
        return self.study.currency

    @property
    def marketplace(self) -> str:
        """Return crowd and environment as one name, for addresses, forms, commands and sentences."""
        return marketplace_name(self.crowd, self.environment)


def marketplace_name(crowd: str, environment: str) -> str:
    """Return the name of a marketplace: `sandbox` for the usual crowd, `lab.list` for any other."""
    return environment if crowd == USUAL_CROWD else f"{crowd}.{environment}"


def split_marketplace_name(marketplace: str) -> tuple[str, str]:
    """Return the crowd and the environment that a marketplace's name stands for."""
    crowd, _, environment = marketplace.rpartition(".")
    return crowd or USUAL_CROWD, environment


def offering_for(study: Study, marketplace: str) -> Offering:
    """Return the study's offering on a marketplace, and create its row if there is none yet.

    Pages, commands and tasks receive a study's name and a marketplace from outside. They turn them into an offering
    here, once, and everything behind them takes the offering. The function stands beside the table because every edge
    needs it.
    """
    crowd, environment = split_marketplace_name(marketplace)
    offering, _ = Offering.objects.select_related("study").get_or_create(
        study=study, crowd=crowd, environment=environment, defaults={}
    )
    offering.study = study  # the caller's own object, which may have parsed its design already
    return offering
