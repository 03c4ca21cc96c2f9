"""Stores personal invitations to an offering by link, and the letters that were written to those invited."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from hits.models.offering import Offering


class Invitation(models.Model):
    """A rater whom a researcher has asked by name, and who comes by a link of their own.

    The link's secret is not stored: it is made from `key` and the server's secret key (hits.crowds.link.secret_links).
    `worker_id` is made up, so that name and address stand in this table alone.
    """

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="invitations")
    key = models.CharField(max_length=16, unique=True)  # how the link begins; a new link has a new one
    worker_id = models.CharField(max_length=64)  # as in Assignment.crowd_worker_id
    name = models.CharField(max_length=100, blank=True)
    email = models.CharField(max_length=254, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True)  # when a browser first showed the link's page
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["offering", "worker_id"], name="one_invitation_per_worker"),
            models.UniqueConstraint(
                "offering", Lower("email"), condition=Q(email__gt=""), name="one_invitation_per_address"
            ),
            models.CheckConstraint(condition=Q(name__gt="") | Q(email__gt=""), name="invitation_names_somebody"),
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} to {self.offering}"  # no name: this may stand in a log

    @property
    def who(self) -> str:
        return self.name or self.email


class Mailing(models.Model):
    """One press of a button that writes to raters: the text, with its placeholders, and who wrote it.

    The links stand in no row: they are filled in when a letter is sent.
    """

    class Kind(models.TextChoices):
        INVITATION = "invitation"
        REMINDER = "reminder"

    offering = models.ForeignKey(Offering, on_delete=models.PROTECT, related_name="mailings")
    kind = models.CharField(max_length=10, choices=Kind)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    press = models.UUIDField(unique=True)  # of the form that was sent: a second click brings the same one
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} of {self.offering}"


class Letter(models.Model):
    """A mailing's e-mail to one rater: saved first, sent later, and never again once the mail server may have it."""

    mailing = models.ForeignKey(Mailing, on_delete=models.PROTECT, related_name="letters")
    invitation = models.ForeignKey(Invitation, on_delete=models.PROTECT, related_name="letters")
    next_at = models.DateTimeField()  # when it may be tried (again)
    attempts = models.PositiveSmallIntegerField(default=0)
    sending_at = models.DateTimeField(null=True)  # set just before; emptied once we know that the server has not got it
    sent_at = models.DateTimeField(null=True)
    dropped_at = models.DateTimeField(null=True)  # never sent: the invitation was revoked first
    problem = models.TextField(blank=True)  # what the last attempt met

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["mailing", "invitation"], name="one_letter_per_mailing_and_rater")
        ]

    def __str__(self) -> str:
        return f"letter {self.pk}"
