"""The addresses of the worker's page and of what it calls."""

from django.contrib.auth.decorators import login_not_required
from django.urls import path

from hits.api import schema, worker_endpoints  # noqa: F401  # importing the schema registers it
from hits.views import crowd_hooks, work

urlpatterns = [
    path("hooks/<slug:crowd>/", crowd_hooks.take_hook, name="crowd-hook"),
    path("<uuid:study_key>/", work.show_study, name="work-study"),
    path("<uuid:study_key>/<int:number>/", work.show_hit, name="work"),
    path("api/save/", login_not_required(worker_endpoints.SaveView.as_view()), name="work-save"),
    path("api/check/", login_not_required(worker_endpoints.CheckView.as_view()), name="work-check"),
    path("api/submit/", login_not_required(worker_endpoints.SubmitView.as_view()), name="work-submit"),
]
