"""Shows raw rows in Django's admin: to look at them, never to change them."""

from django.contrib import admin

from generation.admin import ReadOnlyAdmin
from hits.models import Exclusion, Hit, Publication, PublishingRun, Replacement, ScreeningRun, Study


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    list_display = ["name", "owner", "created_at", "frozen_at", "manifest_hash"]
    search_fields = ["name"]
    list_select_related = True


@admin.register(Hit)
class HitAdmin(ReadOnlyAdmin):
    list_display = ["study", "number", "block", "assignments"]
    list_filter = ["study"]
    list_select_related = True


@admin.register(PublishingRun)
class PublishingRunAdmin(ReadOnlyAdmin):
    list_display = ["offering", "requested_by", "requested_at", "finished_at", "outcome"]
    list_filter = ["offering__environment"]
    list_select_related = True


@admin.register(Publication)
class PublicationAdmin(ReadOnlyAdmin):
    list_display = ["hit", "offering", "wave", "crowd_hit_id", "published_at", "stopped_at", "refusal"]
    list_filter = ["offering__environment", "wave"]
    list_select_related = ["hit__study"]


@admin.register(Replacement)
class ReplacementAdmin(ReadOnlyAdmin):
    list_display = ["hit", "offering", "places", "added", "reopened", "intended_at", "confirmed_at", "refusal"]
    list_filter = ["offering__environment"]
    list_select_related = ["hit__study"]


@admin.register(ScreeningRun)
class ScreeningRunAdmin(ReadOnlyAdmin):
    list_display = ["offering", "kind", "made_by", "made_at", "undone_at"]
    list_filter = ["offering__environment", "is_frozen_rules"]
    list_select_related = True


@admin.register(Exclusion)
class ExclusionAdmin(ReadOnlyAdmin):
    list_display = ["run", "step", "rule", "submission", "evidence"]  # no worker's id: the pages show pseudonyms
    list_filter = ["rule"]
    list_select_related = ["run__study", "submission__assignment"]
    exclude = ["crowd_worker_id"]
