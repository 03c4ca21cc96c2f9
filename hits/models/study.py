"""Stores studies (design, owner, manifest, hash) and their members; says why a stored design can't be read."""

import uuid

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from pydantic import ValidationError

from evalplatform import __version__
from hits.errors import DesignUnreadable
from hits.models.design import StudyDesign
from hits.models.screening_rule import FROZEN, RetiredRule


class StudyQuerySet(models.QuerySet["Study"]):
    def drafts(self) -> "StudyQuerySet":
        return self.filter(frozen_at=None)

    def frozen(self) -> "StudyQuerySet":
        return self.exclude(frozen_at=None)

    def visible_to(self, user: User) -> "StudyQuerySet":
        """Return the studies this user owns or is a member of. Superusers, who run the server, see all."""
        if user.is_superuser:
            return self
        return self.filter(Q(owner=user) | Q(pk__in=Membership.objects.filter(user=user).values("study")))


class Study(models.Model):
    """An experiment. A draft may contain anything; once a study is frozen, its design and manifest never change."""

    name = models.SlugField(max_length=60, unique=True)
    # Identifies the study on marketplaces. The manifest's hash would not do: two machines may run the same design in
    # one account.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="studies")
    design = models.JSONField()
    manifest = models.JSONField(null=True, editable=False)
    manifest_hash = models.CharField(max_length=64, blank=True, editable=False)
    # Whether looks give the human replies at its checkpoints away. Computed when the study is frozen.
    style_report = models.JSONField(null=True, editable=False)
    # 128 bits in hexadecimal, drawn when the study is frozen. Nobody sees it while the study is on a market.
    order_secret = models.CharField(max_length=32, blank=True, editable=False)
    orders_revealed_at = models.DateTimeField(null=True, editable=False)  # when a bundle first carried the secret
    copied_from = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="copies")
    created_at = models.DateTimeField(auto_now_add=True)
    frozen_at = models.DateTimeField(null=True, editable=False)

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="study_has_a_name"),
            models.CheckConstraint(
                condition=Q(frozen_at=None, manifest_hash="") | Q(frozen_at__isnull=False, manifest_hash__gt=""),
                name="study_is_frozen_with_its_hash",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def parsed_design(self) -> StudyDesign:
        """Return `design` with types and defaults. It is parsed once for each value.

        Raises DesignUnreadable for a draft with problems, and for a study that was frozen by a version with other
        settings. In a frozen study, a RetiredRule stands in for a screening rule that no longer exists.
        """
        known = self.__dict__.get("_parsed_design")
        if known is None or known[0] is not self.design:  # `design` was assigned or read from the database again
            try:
                parsed = StudyDesign.model_validate(self.design, context=FROZEN if self.is_frozen else None)
            except ValidationError as error:
                raise DesignUnreadable(self._why_unreadable(error)) from error
            known = self.__dict__["_parsed_design"] = (self.design, parsed)
        design: StudyDesign = known[1]
        return design

    def _why_unreadable(self, error: ValidationError) -> str:
        first = error.errors(include_url=False)[0]
        setting = ".".join(map(str, first["loc"])) or "design"
        problem = "is no setting" if first["type"] == "extra_forbidden" else first["msg"]
        if not self.is_frozen:
            return f"The design of {self.name} has problems, the first: {setting}: {problem}. Its page lists all."
        by = (self.manifest or {}).get("software", "another version of EvalPlatform")
        return (
            f"The study {self.name} was frozen by {by}, and this version, {__version__}, can't read its design: "
            f"{setting}: {problem}. Nothing is lost: run the version that froze it to go on with this study."
        )

    @property
    def retired_rules(self) -> list[str]:
        """Return the names of screening rules that a frozen study has and that this version lacks or has changed."""
        rules = self.parsed_design.screening if self.is_frozen else []
        return [rule.rule for rule in rules if isinstance(rule, RetiredRule)]

    @property
    def currency(self) -> str:
        """Return the currency of all cents of this study."""
        return self.parsed_design.pay.currency

    @property
    def is_frozen(self) -> bool:
        return self.frozen_at is not None


class Membership(models.Model):
    """A user whom the study's owner has invited to see the study and work on it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    invited_at = models.DateTimeField()

    class Meta:
        ordering = ["user__username"]
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_membership_per_study_and_user")]

    def __str__(self) -> str:
        return f"{self.user} in {self.study}"
