from django.db import models

from hits.models.study import Study

USUAL_CROWD = "mturk"  # whose environments are named without it: "sandbox", and not "mturk.sandbox"


class Offering(models.Model):
    """One study, offered on one crowd and environment. What is published, answered, paid, screened and computed there
    hangs from this row; so does what the study has of its own there.

    The row is no fact by itself: it is made when anybody first asks about a study there (`offering_for`), and says
    nothing about whether anything was published.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="offerings")
    crowd = models.CharField(max_length=20, default=USUAL_CROWD)  # a name in hits.crowds.registry
    environment = models.CharField(max_length=20)  # a name among that crowd's own
    # The server that published it, by the address of its workers' page. A copy of the database elsewhere has another.
    page_url = models.TextField(blank=True, default="")
    # What the crowd's own folder has to know again, such as ids that it was given there. Nobody else reads it.
    crowd_notes = models.JSONField(default=dict)
    bonuses_seen_at = models.DateTimeField(null=True)  # when we last looked at all bonuses that were given there

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "crowd", "environment"], name="one_offering_per_study_crowd_and_environment"
            )
        ]

    def __str__(self) -> str:
        return f"{self.study} on {self.place}"

    @property
    def place(self) -> str:
        """The crowd and the environment as one name, for addresses, forms, commands and sentences."""
        return place_name(self.crowd, self.environment)


def place_name(crowd: str, environment: str) -> str:
    return environment if crowd == USUAL_CROWD else f"{crowd}.{environment}"


def split_place(place: str) -> tuple[str, str]:
    """Return the crowd and the environment that a place's name stands for."""
    crowd, _, environment = place.rpartition(".")
    return crowd or USUAL_CROWD, environment


def offering_for(study: Study, place: str) -> Offering:
    """Return the study's offering there, and make its row if nobody has asked for it before.

    Pages, commands and tasks get a study's name and a place from outside: they turn them into an offering here, once,
    and everything behind them takes the offering. It stands with the table because every edge and the worker's page
    need it, and because a row without content may be made by whoever asks first.
    """
    crowd, environment = split_place(place)
    offering, _ = Offering.objects.select_related("study").get_or_create(
        study=study, crowd=crowd, environment=environment, defaults={}
    )
    offering.study = study  # the very object that the caller has, with what it has parsed
    return offering
