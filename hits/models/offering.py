from django.db import models

from hits.models.study import Study


class MarketEnvironment(models.TextChoices):
    LOCAL = "local"
    SANDBOX = "sandbox"
    PRODUCTION = "production"


MTURK = "mturk"


class Offering(models.Model):
    """One study, offered on one crowd and environment. What is published, answered, paid, screened and computed there
    hangs from this row; so does what the study has of its own there.

    The row is no fact by itself: it is made when anybody first asks about a study there (`offering_for`), and says
    nothing about whether anything was published.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="offerings")
    crowd = models.CharField(max_length=20, default=MTURK)  # a name in hits.crowds.registry
    environment = models.CharField(max_length=10, choices=MarketEnvironment)
    # The server that published it, by the address of its workers' page. A copy of the database elsewhere has another.
    page_url = models.TextField(blank=True, default="")
    # The qualification that keeps workers from seeing more of the study.
    stop_qualification_id = models.CharField(max_length=64, blank=True, default="")
    bonuses_seen_at = models.DateTimeField(null=True)  # when we last looked at all bonuses that were given there

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "crowd", "environment"], name="one_offering_per_study_crowd_and_environment"
            )
        ]

    def __str__(self) -> str:
        return f"{self.study} on {self.environment}"


def offering_for(study: Study, environment: str) -> Offering:
    """Return the study's offering there, and make its row if nobody has asked for it before.

    Pages, commands and tasks get a study's name and an environment from outside: they turn them into an offering
    here, once, and everything behind them takes the offering. It stands with the table because every edge and the
    worker's page need it, and because a row without content may be made by whoever asks first.
    """
    offering, _ = Offering.objects.select_related("study").get_or_create(
        study=study, crowd=MTURK, environment=environment, defaults={}
    )
    offering.study = study  # the very object that the caller has, with what it has parsed
    return offering
