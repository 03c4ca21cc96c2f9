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
        """To its owner, to the members whom the owner has invited, and to superusers, who run the server."""
        if user.is_superuser:
            return self
        return self.filter(Q(owner=user) | Q(pk__in=Membership.objects.filter(user=user).values("study")))


class Study(models.Model):
    """An experiment. A draft may hold anything; once frozen, design and manifest never change, only copies do."""

    name = models.SlugField(max_length=60, unique=True)
    # Names the study to marketplaces. Not the manifest's hash: two machines may run the same design in one account.
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="studies")
    design = models.JSONField()
    manifest = models.JSONField(null=True, editable=False)
    manifest_hash = models.CharField(max_length=64, blank=True, editable=False)
    # What a look at its checkpoints says when it is frozen: whether the human replies are told by their looks.
    style_report = models.JSONField(null=True, editable=False)
    # 128 bits in hexadecimal, drawn when the study is frozen. Shown nowhere while the study is on a market.
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
        """`design` with its types and its defaults, parsed once for each value. Raises DesignUnreadable for a draft
        with problems, and for a study that a version with other settings froze. In a frozen study, a RetiredRule stands
        in for a screening rule that is gone."""
        known = self.__dict__.get("_parsed_design")
        if known is None or known[0] is not self.design:  # assigned anew, or read anew from the database
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
        """The screening rules that a frozen study names and this version does not have as they were."""
        rules = self.parsed_design.screening if self.is_frozen else []
        return [rule.rule for rule in rules if isinstance(rule, RetiredRule)]

    @property
    def is_frozen(self) -> bool:
        return self.frozen_at is not None


class Membership(models.Model):
    """That a study's owner has invited someone to see it and to work on it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    invited_at = models.DateTimeField()

    class Meta:
        ordering = ["user__username"]
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="one_membership_per_study_and_user")]

    def __str__(self) -> str:
        return f"{self.user} in {self.study}"
