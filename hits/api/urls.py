from django.contrib.auth.decorators import login_not_required, login_required
from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from hits.api import schema  # noqa: F401  # registers itself
from hits.api.rating_endpoints import RatingListView
from hits.api.researcher import NotFoundView
from hits.api.study_endpoints import ProgressView, ResultsView, StudyListView, StudyView
from hits.views.api_docs import show_api

# A token says who asks, not a session. People open the schema in a browser, so it needs the log-in; like all views of
# the REST framework, it would tell the log-in's middleware to leave it alone.
urlpatterns = [
    path("", show_api, name="api-docs"),
    path("schema/", login_required(SpectacularAPIView.as_view()), name="api-schema"),
    path("studies/", login_not_required(StudyListView.as_view()), name="api-studies"),
    path("studies/<uuid:key>/", login_not_required(StudyView.as_view()), name="api-study"),
    path("studies/<uuid:key>/progress/", login_not_required(ProgressView.as_view()), name="api-progress"),
    path("studies/<uuid:key>/ratings/", login_not_required(RatingListView.as_view()), name="api-ratings"),
    path("studies/<uuid:key>/results/", login_not_required(ResultsView.as_view()), name="api-results"),
    path("<path:rest>", login_not_required(NotFoundView.as_view()), name="api-not-found"),
]
