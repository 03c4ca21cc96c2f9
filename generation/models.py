"""What generation owns: datasets of dialogs, generators, and the candidate replies of one to the other.

Dialogs and candidates are append-only: their texts are what workers saw, and what a frozen study's hash covers.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Cast

from generation.display import display_text

MOST_SEARCH_WORDS = 20


class Dataset(models.Model):
    name = models.CharField(max_length=100, unique=True)
    style_findings = models.JSONField(null=True, editable=False)
    style_requested_at = models.DateTimeField(null=True, editable=False)
    style_checked_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="dataset_has_a_name")]

    def __str__(self) -> str:
        return self.name


class DialogQuerySet(models.QuerySet["Dialog"]):
    def with_gold(self) -> "DialogQuerySet":
        return self.exclude(gold="")

    def containing(self, words: str) -> "DialogQuerySet":
        """Dialogs in which every one of the words stands: in a turn, the gold, the situation, or as id or emotion."""
        found = self.annotate(turns_text=Cast("turns", models.TextField()))
        for word in words.replace("\0", " ").split()[:MOST_SEARCH_WORDS]:
            in_json = json.dumps(word, ensure_ascii=False)[1:-1]  # as the column's text writes it: " is \"
            found = found.filter(
                Q(turns_text__icontains=in_json)
                | Q(gold__icontains=word)
                | Q(situation__icontains=word)
                | Q(emotion__iexact=word)
                | Q(external_id=word)
            )
        return found


class PlainJSONEncoder(json.JSONEncoder):
    """Keeps "é" as it is, so that a search finds it in the column's text on SQLite too."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**(options | {"ensure_ascii": False}))


class Dialog(models.Model):
    """A context of alternating turns (speaker 1 begins) that waits for a reply, and perhaps a human's own reply."""

    # Without an index of its own: both indexes below begin with it. Likewise the candidates' dialog.
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="dialogs", db_index=False)
    external_id = models.CharField(max_length=200)
    turns = models.JSONField(encoder=PlainJSONEncoder)
    turn_labels = models.JSONField(default=list)
    gold = models.TextField(blank=True)
    gold_label = models.CharField(max_length=50, blank=True)
    emotion = models.CharField(max_length=50, blank=True)
    situation = models.TextField(blank=True)
    source = models.JSONField(default=dict, encoder=PlainJSONEncoder)
    context_key = models.BigIntegerField(editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DialogQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "external_id"], name="one_dialog_per_dataset_and_id"),
            models.CheckConstraint(condition=~Q(external_id=""), name="dialog_has_an_id"),
        ]
        indexes = [models.Index(fields=["dataset", "context_key"], name="dialog_by_context")]

    def __str__(self) -> str:
        return self.external_id

    @property
    def display_gold(self) -> str:
        """The gold as it stands on a card: tidied like the candidates beside it, where it needs it."""
        return display_text(self.gold, self.turns)


def context_key(turns: Sequence[str]) -> int:
    """A 64-bit fingerprint of a context, to find dialogs by it; equality is then checked on the turns themselves."""
    digest = hashlib.sha256(json.dumps(list(turns)).encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


class Generator(models.Model):
    """A neural network, a service or a file of replies; in the pages, researchers read "model"."""

    IMPORTED = "imported"

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=50, default=IMPORTED)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="generator_has_a_name")]

    def __str__(self) -> str:
        return self.name


class GenerationRun(models.Model):
    """One arrival of candidates: of one generator, for one dataset, from one file (or, later, from one job)."""

    generator = models.ForeignKey(Generator, on_delete=models.PROTECT, related_name="runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="runs")
    origin = models.CharField(max_length=300)
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # A run that was killed is gone on with, not begun beside.
            models.UniqueConstraint(
                fields=["generator", "dataset", "origin"],
                condition=Q(finished_at=None),
                name="one_open_run_per_origin",
            )
        ]

    def __str__(self) -> str:
        return f"{self.generator} on {self.dataset} from {self.origin}"


class Candidate(models.Model):
    """One reply by one generator. `text` is what it wrote; `display_text` is what a worker reads."""

    dialog = models.ForeignKey(Dialog, on_delete=models.PROTECT, related_name="candidates", db_index=False)
    generator = models.ForeignKey(Generator, on_delete=models.PROTECT, related_name="candidates")
    run = models.ForeignKey(GenerationRun, on_delete=models.PROTECT, related_name="candidates")
    text = models.TextField()
    display_text = models.TextField()
    predicted_label = models.CharField(max_length=50, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dialog", "generator"], name="one_candidate_per_dialog_and_generator"),
            models.CheckConstraint(condition=~Q(text="") & ~Q(display_text=""), name="candidate_has_text"),
        ]

    def __str__(self) -> str:
        return f"{self.generator}: {self.display_text[:60]}"
