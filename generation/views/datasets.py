"""The researcher's pages about datasets, dialogs and candidates."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST
from kombu.exceptions import OperationalError

from evalplatform import process_commands
from evalplatform.listeners import is_anyone_listening
from generation.counting import count_datasets, count_emotions
from generation.metrics.score_tables import tables_of_dataset
from generation.models import Dataset, Dialog
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
    # Note the request before sending it: a quick process may finish the check before this line would run.
    Dataset.objects.filter(pk=pk).update(style_requested_at=timezone.now())
    try:
        check_style_of_dataset.delay(dataset.pk)
    except OperationalError:
        Dataset.objects.filter(pk=pk).update(style_requested_at=None)
        messages.error(request, "The check can't start: the broker does not answer. See the Health page.")
    return redirect("dataset", pk=pk)


@require_GET
def show_style_check(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the style panel alone. It reloads itself every second while a check is running."""
    dataset = get_object_or_404(Dataset, pk=pk)
    context = {"dataset": dataset, "can_change": can_change(request.user, dataset), **style_wait(dataset)}
    return render(request, "generation/_style_check.html", context)


def style_wait(dataset: Dataset) -> dict[str, Any]:
    """Say whether a requested check waits because no background process is running, and which command starts one."""
    is_alone = dataset.style_requested_at is not None and not is_anyone_listening()
    return {"is_alone": is_alone, "command": process_commands.WORKER}


def _padded_labels(dialog: Dialog) -> list[str]:
    return dialog.turn_labels or [""] * len(dialog.turns)
