"""The rows of generation: datasets of dialogs, generators, and the candidates that generators gave to dialogs.

Dialogs and candidates are append-only: their texts are what workers saw, and a frozen study's hash covers them. So are
generators: another checkpoint or another setting is another generator, with another name.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Cast

from evalplatform.background_work import BackgroundWork, BackgroundWorkQuerySet
from generation.display import display_text

MOST_SEARCH_WORDS = 20
MOST_WORD_CHARACTERS = 1000  # a longer one is looked for by its beginning: SQLite takes no pattern of 50,000 bytes


class Dataset(models.Model):
    name = models.CharField(max_length=100, unique=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="datasets"
    )
    style_findings = models.JSONField(null=True, editable=False)
    style_checked_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="dataset_has_a_name")]

    def __str__(self) -> str:
        return self.name


class StyleCheck(BackgroundWork):
    """That someone asked for a dataset's style check. What was found last stands with the dataset."""

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, related_name="style_check")
    problem = models.TextField(blank=True)

    objects = BackgroundWorkQuerySet.as_manager()

    def __str__(self) -> str:
        return f"style check of {self.dataset}"


class DialogQuerySet(models.QuerySet["Dialog"]):
    def with_gold(self) -> "DialogQuerySet":
        return self.exclude(gold="")

    def containing(self, words: str) -> "DialogQuerySet":
        """Return dialogs that have every one of the words: in a turn, the gold or the situation, or as id or
        emotion."""
        found = self.annotate(turns_text=Cast("turns", models.TextField()))
        for whole_word in words.replace("\0", " ").split()[:MOST_SEARCH_WORDS]:
            word = whole_word[:MOST_WORD_CHARACTERS]
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
    """Stores "é" as it is, so that a search finds it in the column's text on SQLite, too."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**(options | {"ensure_ascii": False}))


class Dialog(models.Model):
    """A context of alternating turns (speaker 1 begins) that waits for a reply, and perhaps a human reply to it."""

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
        """The gold as a card shows it: tidied like the candidates beside it, if it needs that."""
        return display_text(self.gold, self.turns)


def context_key(turns: Sequence[str]) -> int:
    """Return a 64-bit fingerprint of a context, to find dialogs by. The turns themselves are compared afterwards."""
    digest = hashlib.sha256(json.dumps(list(turns)).encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


class Generator(models.Model):
    """A neural network, a service or a file of replies; in the pages, researchers read "model"."""

    IMPORTED = "imported"

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=50, default=IMPORTED)  # or one of generation/registry.py
    checkpoint = models.CharField(max_length=500, blank=True)  # a folder, or a name that the kind understands
    settings = models.JSONField(default=dict, encoder=PlainJSONEncoder)
    version = models.CharField(max_length=64, blank=True)  # SHA-256 of kind, settings and the checkpoint's content
    owner = models.ForeignKey("auth.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="generators")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="generator_has_a_name"),
            models.CheckConstraint(
                condition=Q(kind="imported") | ~Q(version=""), name="generator_that_answers_has_a_version"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def can_answer(self) -> bool:
        return self.kind != self.IMPORTED


class GenerationRunQuerySet(BackgroundWorkQuerySet["GenerationRun"]):
    def generated(self) -> "GenerationRunQuerySet":
        return self.exclude(dialog_count=None)

    def unfinished(self) -> "GenerationRunQuerySet":
        return self.filter(finished_at=None)

    def going_on(self) -> "GenerationRunQuerySet":
        return self.generated().unfinished().filter(paused_at=None)


class GenerationRun(BackgroundWork):
    """Candidates of one generator for one dataset that arrive together: from one file, or answered here in chunks."""

    GENERATED = "answered here"  # the origin of a run whose candidates come from no file

    generator = models.ForeignKey(Generator, on_delete=models.PROTECT, related_name="runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="runs")
    origin = models.CharField(max_length=300)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="generation_runs"
    )
    dialog_count = models.PositiveIntegerField(null=True)  # that it is to answer; of an import nobody knows
    requested_at = models.DateTimeField(auto_now_add=True)
    away_since = models.DateTimeField(null=True)  # its server did not answer anybody since
    next_try_at = models.DateTimeField(null=True)  # of a server that is away
    paused_at = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)
    outcome = models.TextField(blank=True)

    objects = GenerationRunQuerySet.as_manager()

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

    def is_quiet(self, now: datetime) -> bool:
        return self.paused_at is None and super().is_quiet(now)


class GenerationChunkQuerySet(models.QuerySet["GenerationChunk"]):
    def undone(self) -> "GenerationChunkQuerySet":
        return self.filter(done_at=None)


class GenerationChunk(models.Model):
    """Some dialogs that are to be answered, as one message to a background process. The candidates are the outcome."""

    run = models.ForeignKey(GenerationRun, on_delete=models.PROTECT, related_name="chunks", db_index=False)
    number = models.PositiveIntegerField()
    dialog_ids = models.JSONField()
    starts = models.PositiveSmallIntegerField(default=0)  # since something was saved; too many, and it is given up
    seen_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    objects = GenerationChunkQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_chunk_per_run_and_number")]

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.run}"


class Candidate(models.Model):
    """One reply by one generator. `text` is what it wrote; `display_text` is what a worker reads.

    The fields after `predicted_label` are known for replies that were made here, and not for imported ones.
    """

    dialog = models.ForeignKey(Dialog, on_delete=models.PROTECT, related_name="candidates", db_index=False)
    generator = models.ForeignKey(Generator, on_delete=models.PROTECT, related_name="candidates")
    run = models.ForeignKey(GenerationRun, on_delete=models.PROTECT, related_name="candidates")
    text = models.TextField()
    display_text = models.TextField()
    thoughts = models.TextField(blank=True, default="")  # of a reasoning model: neither shown to workers nor scored
    predicted_label = models.CharField(max_length=50, blank=True)
    score = models.FloatField(null=True)  # what its kind calls so
    seed = models.BigIntegerField(null=True)
    seconds = models.FloatField(null=True)  # its share of the time that its batch took
    turns_cut = models.PositiveSmallIntegerField(null=True)  # oldest turns of the context that the model could not take
    software = models.JSONField(null=True)  # versions, and what it ran on
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dialog", "generator"], name="one_candidate_per_dialog_and_generator"),
            models.CheckConstraint(condition=~Q(text="") & ~Q(display_text=""), name="candidate_has_text"),
        ]

    def __str__(self) -> str:
        return f"{self.generator}: {self.display_text[:60]}"


class GenerationFailure(models.Model):
    """A generator was asked and gave nothing that can be shown, and why. It is asked once more in the same run."""

    dialog = models.ForeignKey(Dialog, on_delete=models.PROTECT, related_name="failures", db_index=False)
    generator = models.ForeignKey(Generator, on_delete=models.PROTECT, related_name="failures")
    run = models.ForeignKey(GenerationRun, on_delete=models.PROTECT, related_name="failures")
    attempt = models.PositiveSmallIntegerField()  # counted over all runs: each has a seed of its own
    reason = models.CharField(max_length=500)
    seed = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dialog", "generator", "attempt"], name="one_failure_per_attempt")
        ]

    def __str__(self) -> str:
        return f"{self.generator} on {self.dialog}: {self.reason}"


class CandidateScore(models.Model):
    """What an automatic metric says about one reply. If the way of computing it changes, so does the version."""

    candidate = models.ForeignKey(Candidate, on_delete=models.CASCADE, related_name="scores", db_index=False)
    metric = models.CharField(max_length=50)
    version = models.CharField(max_length=100)
    value = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate", "metric", "version"], name="one_score_per_candidate_and_metric"
            )
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.4g}"


class GeneratorScore(models.Model):
    """What an automatic metric says about all replies of a generator to a dataset. Candidates are never deleted, so
    their count says which replies these were."""

    generator = models.ForeignKey(Generator, on_delete=models.CASCADE, related_name="scores", db_index=False)
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=50)
    version = models.CharField(max_length=100)
    candidate_count = models.PositiveIntegerField()
    scored_count = models.PositiveIntegerField()  # of these: those with a gold or a label, where the metric needs one
    value = models.FloatField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["generator", "dataset", "metric", "version", "candidate_count"],
                name="one_score_per_generator_dataset_and_metric",
            )
        ]

    def __str__(self) -> str:
        return f"{self.generator} on {self.dataset}: {self.metric} {self.value:.4g}"
