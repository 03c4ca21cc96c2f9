"""Show models, their runs and failures; start, pause, resume and cancel runs."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from evalplatform.errors import EvalPlatformError
from generation.forecasting import clock_time
from generation.metrics.score_tables import tables_of_generator
from generation.models import Dataset, GenerationFailure, GenerationRun, Generator
from generation.owning import Requester, can_change, can_steer, refuse_unless
from generation.run_requests import (
    cancel_run,
    count_failures,
    count_run,
    failed_dialogs,
    finish_run,
    pause_run,
    request_run,
    resume_run,
    undone_chunks,
)
from generation.tasks import send_chunks

RUNS_SHOWN = 20
FAILURES_PER_PAGE = 50


@require_GET
def list_generators(request: HttpRequest) -> HttpResponse:
    counts = dict(Generator.objects.values_list("pk").annotate(Count("candidates")))
    busy = set(GenerationRun.objects.generated().unfinished().values_list("generator", flat=True))
    rows = [
        {"generator": generator, "candidate_count": counts[generator.pk], "is_busy": generator.pk in busy}
        for generator in Generator.objects.all()
    ]
    return render(request, "generation/generators.html", {"rows": rows})


@require_GET
def show_generator(request: HttpRequest, pk: int) -> HttpResponse:
    generator = get_object_or_404(Generator, pk=pk)
    datasets = _count_left_by_dataset(generator) if generator.can_answer else []
    context = {
        "generator": generator,
        "settings": sorted(generator.settings.items()),
        "score_tables": tables_of_generator(generator),
        "datasets": datasets,
        "can_change": can_change(request.user, generator),
        "is_anything_left": any(dataset["left"] for dataset in datasets),
        **_list_runs(request.user, generator),
    }
    return render(request, "generation/generator.html", context)


@require_GET
def show_runs(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the runs alone. They reload themselves while one of them is going on."""
    generator = get_object_or_404(Generator, pk=pk)
    return render(request, "generation/_runs.html", {"generator": generator, **_list_runs(request.user, generator)})


@require_GET
def list_failures(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(GenerationRun.objects.generated().select_related("generator", "dataset"), pk=pk)
    failures = GenerationFailure.objects.filter(run=run).select_related("dialog").order_by("pk")
    context = {
        "run": run,
        "page": Paginator(failures, FAILURES_PER_PAGE).get_page(request.GET.get("page")),
        "unanswered": set(failed_dialogs(run)),
    }
    return render(request, "generation/failures.html", context)


@require_POST
def generate(request: HttpRequest, pk: int) -> HttpResponse:
    generator = get_object_or_404(Generator, pk=pk)
    refuse_unless(can_change(request.user, generator))
    dataset_id = request.POST.get("dataset", "")
    try:
        if not dataset_id.isascii() or not dataset_id.isdigit():
            raise EvalPlatformError("Choose a dataset.")
        dataset = get_object_or_404(Dataset, pk=int(dataset_id))
        user = request.user if isinstance(request.user, User) else None
        run = request_run(generator, dataset, user)
        _send_or_finish(run)
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return _redirect_to_generator(generator.pk)


@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    return _steer_run(request, pk, pause_run)


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    return _steer_run(request, pk, cancel_run)


@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Resume a paused run, or one whose processes seem dead. If they are alive after all, that does no harm."""
    run = _run_to_steer(request, pk)
    resume_run(run, timezone.now())
    try:
        send_chunks(undone_chunks(run))
    except EvalPlatformError as error:
        pause_run(run, timezone.now())
        messages.error(request, str(error))
    return _redirect_to_generator(run.generator_id)


def _run_to_steer(request: HttpRequest, pk: int) -> GenerationRun:
    run = get_object_or_404(GenerationRun.objects.generated().select_related("generator"), pk=pk)
    refuse_unless(can_steer(request.user, run))
    return run


def _steer_run(request: HttpRequest, pk: int, act: Callable[[GenerationRun, datetime], None]) -> HttpResponse:
    run = _run_to_steer(request, pk)
    act(run, timezone.now())
    return _redirect_to_generator(run.generator_id)


def _send_or_finish(run: GenerationRun) -> None:
    try:
        send_chunks(undone_chunks(run))
    except EvalPlatformError as error:
        finish_run(run, timezone.now(), str(error))
        raise


def _redirect_to_generator(generator_id: int) -> HttpResponse:
    return redirect("generator", pk=generator_id)


def _count_left_by_dataset(generator: Generator) -> list[dict[str, Any]]:
    totals = Dataset.objects.annotate(total=Count("dialogs")).values_list("pk", "name", "total")
    answered = dict(generator.runs.values_list("dataset").annotate(Count("candidates")))
    return [
        {"pk": pk, "name": name, "total": total, "answered": answered.get(pk, 0), "left": total - answered.get(pk, 0)}
        for pk, name, total in totals
    ]


def _list_runs(user: Requester, generator: Generator) -> dict[str, Any]:
    found = generator.runs.select_related("dataset", "requested_by", "generator").order_by("-pk")
    runs = [_describe_run(run) | {"can_steer": can_steer(user, run)} for run in found[:RUNS_SHOWN]]
    goes_on = any(row["is_generated"] and row["run"].finished_at is None for row in runs)
    return {"runs": runs, "goes_on": goes_on, "older_count": max(0, found.count() - RUNS_SHOWN)}


def _describe_run(run: GenerationRun) -> dict[str, Any]:
    now = timezone.now()
    if run.dialog_count is None:
        return {"run": run, "is_generated": False, "candidate_count": run.candidates.count()}
    counts = count_run(run, now)
    left = counts.seconds_left
    return {
        "run": run,
        "is_generated": True,
        "counts": counts,
        "failures": count_failures(run) if counts.failed else {},
        "has_failures": run.failures.exists(),
        "cut_count": run.candidates.filter(turns_cut__gt=0).count(),
        "rate": f"{counts.per_second:.2g} a second" if counts.per_second else "",
        "time_left": clock_time(left) if left is not None else "",
        "is_quiet": run.is_quiet(now),
    }
