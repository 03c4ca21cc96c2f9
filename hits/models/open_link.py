"""Stores open links of offerings, who came by them, who left without taking part, and the calls that report work."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from hits.models.assignment import Assignment
from hits.models.offering import Offering


class Outcome(models.TextChoices):
    """How somebody leaves a study. A link may have a code for each."""

    FINISHED = "finished"
    NO_CONSENT = "no consent"
    SCREENED_OUT = "screened out"
    STUDY_FULL = "study full"


class OpenLink(models.Model):
    """An address at which whoever has it may join a study: for one poster, mailing list or panel.

    The key stands in the address and is no secret. Ids from outside get the link's prefix, so that the same id at two
    links means two workers.
    """

    class Way(models.TextChoices):
        """How the service behind the link hears that somebody has finished."""

        REDIRECT = "redirect"  # the browser goes to `address`
        CODE = "code"  # the worker takes a code there, or nobody needs to hear of it
        CALL = "server call"  # this server requests `address`

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="open_links")
    key = models.CharField(max_length=20, unique=True)
    label = models.CharField(max_length=60)
    preset = models.CharField(max_length=12, default="own")  # a name in hits.crowds.link.presets
    prefix = models.CharField(max_length=12)
    worker_parameter = models.CharField(max_length=40, blank=True)  # empty: we make an id up and keep it in a cookie
    session_parameter = models.CharField(max_length=40, blank=True)
    # A class or a lab comes from one address, so how many places one address may take has no limit here.
    is_for_one_network = models.BooleanField(default=False)
    way = models.CharField(max_length=12, choices=Way, default=Way.CODE)
    address = models.TextField(blank=True)  # with the placeholders {worker}, {session} and {code}
    codes = models.JSONField(default=dict)  # a code for each Outcome that has one
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["offering", "prefix"], name="one_link_per_offering_and_prefix"),
            models.CheckConstraint(
                condition=Q(way="code") | Q(address__gt=""), name="open_link_has_the_address_that_it_needs"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} of {self.offering}"


class Entrant(models.Model):
    """A worker who agreed to take part at a link, as the service behind it knows them."""

    link = models.ForeignKey(OpenLink, on_delete=models.PROTECT, related_name="entrants")
    worker_id = models.CharField(max_length=64)  # as in Assignment.crowd_worker_id
    id_there = models.CharField(max_length=64, blank=True)  # empty if we made the id up, or keep only its hash
    entered_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["link", "worker_id"], name="one_entrant_per_link_and_worker")]

    def __str__(self) -> str:
        return f"{self.worker_id} by {self.link}"


class Credit(models.Model):
    """In which session an assignment was handed in: that session gets the credit.

    The id in a link's address proves nothing. Whoever knows somebody's id and comes under a session of their own gets
    no credit for what that somebody has done, because only the session that hands the work in is written down, once.
    It is one of the service behind the link or, where the address names none, of the browser.
    """

    link = models.ForeignKey(OpenLink, on_delete=models.PROTECT, related_name="credits")
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="credit")
    session = models.CharField(max_length=64, blank=True)  # empty if the service named none

    def __str__(self) -> str:
        return f"{self.assignment} in session {self.session or 'without a name'}"


class Departure(models.Model):
    """Somebody left at a link without taking part: how, on which day, and which consent text they had read.

    It names nobody, on purpose: whoever does not agree leaves nothing of themselves here (decision 32).
    """

    link = models.ForeignKey(OpenLink, on_delete=models.PROTECT, related_name="departures")
    outcome = models.CharField(max_length=12, choices=Outcome)
    consent_version = models.CharField(max_length=64)
    left_on = models.DateField()

    def __str__(self) -> str:
        return f"{self.outcome} at {self.link}"


class ServerCall(models.Model):
    """A request to the service behind a link, which reports one finished assignment. Saved with the submission, sent
    later, and never sent again once the service may have acted upon it."""

    link = models.ForeignKey(OpenLink, on_delete=models.PROTECT, related_name="calls")
    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="server_call")
    address = models.TextField()
    intended_at = models.DateTimeField()
    next_at = models.DateTimeField()  # when it may be tried (again)
    attempts = models.PositiveSmallIntegerField(default=0)
    sending_at = models.DateTimeField(null=True)  # set just before the call; emptied once we know that nobody acted
    arrived_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)  # what the last attempt met

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"call for {self.assignment}"

    @property
    def is_in_doubt(self) -> bool:
        """True if it was sent and we don't know what came of it: only a person may have it sent again."""
        return self.arrived_at is None and self.sending_at is not None and bool(self.problem)
