"""Show the raw rows of generation in Django's admin. They can't be changed there, because raw data is append-only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from generation.models import (
    Candidate,
    Dataset,
    Dialog,
    GenerationChunk,
    GenerationFailure,
    GenerationRun,
    Generator,
)


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # a generic only for the type checker
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Dataset, Generator)
class NamedAdmin(ReadOnlyAdmin):
    list_display = ["name", "created_at"]


@admin.register(Dialog)
class DialogAdmin(ReadOnlyAdmin):
    list_display = ["external_id", "dataset", "emotion", "gold"]
    list_filter = ["dataset"]
    search_fields = ["external_id", "gold"]


@admin.register(GenerationRun)
class GenerationRunAdmin(ReadOnlyAdmin):
    list_display = ["generator", "dataset", "origin", "requested_at", "finished_at"]
    list_select_related = True


@admin.register(Candidate)
class CandidateAdmin(ReadOnlyAdmin):
    list_display = ["generator", "dialog", "display_text"]
    list_filter = ["generator"]
    list_select_related = True


@admin.register(GenerationChunk)
class GenerationChunkAdmin(ReadOnlyAdmin):
    list_display = ["run", "number", "starts", "seen_at", "done_at"]


@admin.register(GenerationFailure)
class GenerationFailureAdmin(ReadOnlyAdmin):
    list_display = ["generator", "dialog", "attempt", "reason", "created_at"]
    list_filter = ["generator"]
    list_select_related = True
