from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from generation.counting import count_datasets
from generation.models import Dataset, GenerationRun, Generator

RECENT_RUNS = 8


@require_GET
def show_home(request: HttpRequest) -> HttpResponse:
    datasets = count_datasets(Dataset.objects.all())
    context = {
        "datasets": datasets,
        "dialog_count": sum(counts.dialog_count for counts in datasets),
        "gold_count": sum(counts.gold_count for counts in datasets),
        "candidate_count": sum(coverage.candidate_count for counts in datasets for coverage in counts.coverage),
        "generator_count": Generator.objects.count(),
        "recent_runs": GenerationRun.objects.select_related("generator", "dataset").order_by("-started_at")[
            :RECENT_RUNS
        ],
    }
    return render(request, "home.html", context)
