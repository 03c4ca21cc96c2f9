"""Shows the home page: the newest studies, how many dialogs, models and replies there are, and what came in lately."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from generation.counting import count_datasets, recent_arrivals
from generation.models import Dataset, Generator
from hits.access import visible_studies
from hits.monitoring import listed_studies

RECENT_ARRIVALS = 5
RECENT_STUDIES = 5


@require_GET
def show_home(request: HttpRequest) -> HttpResponse:
    datasets = count_datasets(Dataset.objects.all())
    studies = visible_studies(request.user)
    context = {
        "listed": listed_studies(studies[:RECENT_STUDIES]),
        "study_count": studies.count(),
        "datasets": datasets,
        "dialog_count": sum(counts.dialog_count for counts in datasets),
        "gold_count": sum(counts.gold_count for counts in datasets),
        "candidate_count": sum(coverage.candidate_count for counts in datasets for coverage in counts.coverage),
        "generator_count": Generator.objects.count(),
        "arrivals": recent_arrivals(RECENT_ARRIVALS),
    }
    return render(request, "home.html", context)
