"""Define the tables of generation, from datasets to automatic scores, and the search for words in dialogs.

Dialogs and candidates are append-only: their texts are what workers saw, and a frozen study's hash covers them.
Generators are, too: another checkpoint or another setting is another generator, with another name.
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
MOST_WORD_CHARACTERS = 1000  # only the beginning of a longer word is searched: SQLite refuses patterns of 50,000 bytes


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
    """A request to check a dataset's style. What the last check found is stored with the dataset."""

    dataset = models.OneToOneField(Dataset, on_delete=models.CASCADE, related_name="style_check")
    problem = models.TextField(blank=True)

    objects = BackgroundWorkQuerySet.as_manager()

    def __str__(self) -> str:
        return f"style check of {self.dataset}"


class DialogQuerySet(models.QuerySet["Dialog"]):
    def with_gold(self) -> "DialogQuerySet":
        return self.exclude(gold="")

    def containing(self, words: str) -> "DialogQuerySet":
        """Return the dialogs that contain every one of the words, each in a turn, the gold or the situation, or as the
        id or emotion."""
        found = self.annotate(turns_text=Cast("turns", models.TextField()))
        for whole_word in words.replace("\0", " ").split()[:MOST_SEARCH_WORDS]:
            word = whole_word[:MOST_WORD_CHARACTERS]
            in_json = json.dumps(word, ensure_ascii=False)[1:-1]  # as it is written in the JSON column: " is \"
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
    """A context of alternating turns (speaker 1 begins) that is to be answered, perhaps with a human reply (the
    gold)."""

    # No index of its own, because both indexes below begin with it. The same holds for Candidate.dialog.
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
        """Return the gold as a card shows it, with capitals and spacing restored like those of the candidates."""
        return display_text(self.gold, self.turns)


def context_key(turns: Sequence[str]) -> int:
    """Return a 64-bit fingerprint of a context, to find dialogs by. The turns themselves are compared afterwards."""
    digest = hashlib.sha256(json.dumps(list(turns)).encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


class Generator(models.Model):
    """A neural network, a service or a file of replies; in the pages, researchers read "model"."""

    IMPORTED = "imported"

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=50, default=IMPORTED)  # or one of the kinds in generation/registry.py
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
    """A set of candidates by one generator for one dataset: imported from one file, or answered here in chunks."""

    GENERATED = "answered here"  # the origin of a run whose candidates come from no file

    generator = models.ForeignKey(Generator, on_delete=models.PROTECT, related_name="runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="runs")
    origin = models.CharField(max_length=300)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="generation_runs"
    )
    dialog_count = models.PositiveIntegerField(null=True)  # how many dialogs it has to answer; None for an import
    requested_at = models.DateTimeField(auto_now_add=True)
    away_since = models.DateTimeField(null=True)  # the generator's server has answered nothing since then
    next_try_at = models.DateTimeField(null=True)  # when a server that is away is asked again
    paused_at = models.DateTimeField(null=True)
    cancelled_at = models.DateTimeField(null=True)
    outcome = models.TextField(blank=True)

    objects = GenerationRunQuerySet.as_manager()

    class Meta:
        constraints = [
            # A run that was killed is continued; no second one may begin beside it.
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
    """Some dialogs of a run that one message asks a background process to answer."""

    run = models.ForeignKey(GenerationRun, on_delete=models.PROTECT, related_name="chunks", db_index=False)
    number = models.PositiveIntegerField()
    dialog_ids = models.JSONField()
    starts = models.PositiveSmallIntegerField(default=0)  # since the last saved answer; after too many, it is given up
    seen_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    objects = GenerationChunkQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_chunk_per_run_and_number")]

    def __str__(self) -> str:
        return f"chunk {self.number} of {self.run}"


class Candidate(models.Model):
    """One reply by one generator. `text` is what it wrote; `display_text` is what a worker reads.

    The fields after `predicted_label` are filled for replies that were made here, not for imported ones.
    """

    dialog = models.ForeignKey(Dialog, on_delete=models.PROTECT, related_name="candidates", db_index=False)
    generator = models.ForeignKey(Generator, on_delete=models.PROTECT, related_name="candidates")
    run = models.ForeignKey(GenerationRun, on_delete=models.PROTECT, related_name="candidates")
    text = models.TextField()
    display_text = models.TextField()
    thoughts = models.TextField(blank=True, default="")  # a reasoning model's; neither shown to workers nor scored
    predicted_label = models.CharField(max_length=50, blank=True)
    score = models.FloatField(null=True)  # its meaning depends on the generator's kind
    seed = models.BigIntegerField(null=True)
    seconds = models.FloatField(null=True)  # its share of the time that its batch took
    turns_cut = models.PositiveSmallIntegerField(null=True)  # oldest turns of the context that the model could not take
    source = models.JSONField(default=dict, encoder=PlainJSONEncoder)  # of a retrieved reply: dataset, dialog, turn
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
    """Why a generator gave no reply to a dialog that can be shown. It is asked once more in the same run."""

    dialog = models.ForeignKey(Dialog, on_delete=models.PROTECT, related_name="failures", db_index=False)
    generator = models.ForeignKey(Generator, on_delete=models.PROTECT, related_name="failures")
    run = models.ForeignKey(GenerationRun, on_delete=models.PROTECT, related_name="failures")
    attempt = models.PositiveSmallIntegerField()  # counted over all runs, because each attempt has its own seed
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
    """The value of an automatic metric for one reply. `version` changes whenever the metric is computed differently."""

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
    """The value of an automatic metric for all replies of a generator to a dataset. Candidates are never deleted, so
    their count tells which replies were scored."""

    generator = models.ForeignKey(Generator, on_delete=models.CASCADE, related_name="scores", db_index=False)
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=50)
    version = models.CharField(max_length=100)
    candidate_count = models.PositiveIntegerField()
    scored_count = models.PositiveIntegerField()  # those with a gold or a label, if the metric needs one; else all
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
