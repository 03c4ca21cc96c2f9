"""Show datasets, dialogs and candidates: search, paging, and the style check."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from evalplatform import process_commands
from evalplatform.background_work import send_task
from evalplatform.errors import EvalPlatformError
from evalplatform.listeners import is_anyone_listening
from generation import style_check
from generation.counting import count_datasets, count_emotions
from generation.metrics.score_tables import tables_of_dataset
from generation.models import Dataset, Dialog, StyleCheck
from generation.owning import can_change, refuse_unless
from generation.tasks import check_style_of_dataset

DIALOGS_PER_PAGE = 25


@require_GET
def list_datasets(request: HttpRequest) -> HttpResponse:
    return render(request, "generation/datasets.html", {"datasets": count_datasets(Dataset.objects.all())})


@require_GET
def show_dataset(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_object_or_404(Dataset, pk=pk)
    words, emotion = request.GET.get("q", "").strip(), request.GET.get("emotion", "").replace("\0", "")
    dialogs = dataset.dialogs.order_by("pk")
    if words:
        dialogs = dialogs.containing(words)
    if emotion:
        dialogs = dialogs.filter(emotion=emotion)
    page = Paginator(dialogs.prefetch_related("candidates"), DIALOGS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "counts": count_datasets([dataset])[0],
        "emotions": count_emotions(dataset),
        "score_tables": tables_of_dataset(dataset),
        "can_change": can_change(request.user, dataset),
        **style_wait(dataset),
        "page": page,
        "words": words,
        "emotion": emotion,
    }
    return render(request, "generation/dataset.html", context)


@require_GET
def show_dialog(request: HttpRequest, pk: int) -> HttpResponse:
    dialog = get_object_or_404(Dialog.objects.select_related("dataset"), pk=pk)
    neighbours = Dialog.objects.filter(dataset=dialog.dataset_id)
    context = {
        "dialog": dialog,
        "turns": [
            {"text": text, "speaker": 1 + position % 2, "label": label}
            for position, (text, label) in enumerate(zip(dialog.turns, _padded_labels(dialog), strict=True))
        ],
        "reply_speaker": 1 + len(dialog.turns) % 2,
        "candidates": dialog.candidates.select_related("generator").order_by("generator__name"),
        "previous": neighbours.filter(pk__lt=pk).order_by("-pk").first(),
        "next": neighbours.filter(pk__gt=pk).order_by("pk").first(),
    }
    return render(request, "generation/dialog.html", context)


@require_POST
def request_style_check(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_object_or_404(Dataset, pk=pk)
    refuse_unless(can_change(request.user, dataset))
    try:
        style_check.request_style_check(dataset, _send, timezone.now())
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return redirect("dataset", pk=pk)


def _send(dataset: Dataset) -> None:
    send_task(check_style_of_dataset, dataset.pk)


@require_GET
def show_style_check(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the style panel alone. It reloads itself every second while a check is running."""
    dataset = get_object_or_404(Dataset, pk=pk)
    context = {"dataset": dataset, "can_change": can_change(request.user, dataset), **style_wait(dataset)}
    return render(request, "generation/_style_check.html", context)


def style_wait(dataset: Dataset) -> dict[str, Any]:
    """Return the check that was asked for, if any, and whether it waits for a process that is not running."""
    check = StyleCheck.objects.filter(dataset=dataset).first() or StyleCheck(dataset=dataset)
    return {
        "check": check,
        "is_quiet": check.is_quiet(timezone.now()),
        "is_alone": check.is_under_way and not is_anyone_listening(),
        "command": process_commands.BACKGROUND,
    }


def _padded_labels(dialog: Dialog) -> list[str]:
    return dialog.turn_labels or [""] * len(dialog.turns)
