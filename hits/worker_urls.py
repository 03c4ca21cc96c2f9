from django.contrib.auth.decorators import login_not_required
from django.urls import path

from hits.api import schema, worker  # noqa: F401  # the schema registers itself
from hits.views import work

urlpatterns = [
    path("<uuid:study_key>/<int:number>/", work.show_hit, name="work"),
    path("api/save/", login_not_required(worker.SaveView.as_view()), name="work-save"),
    path("api/check/", login_not_required(worker.CheckView.as_view()), name="work-check"),
    path("api/submit/", login_not_required(worker.SubmitView.as_view()), name="work-submit"),
]
