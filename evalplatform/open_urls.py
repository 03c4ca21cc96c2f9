"""List the addresses of pages that need no session: the worker's, health, shared results (middleware.skip_sessions)."""

from django.urls import include, path

from evalplatform.health import show_health

urlpatterns = [
    path("work/", include("hits.worker_urls")),
    path("shared/", include("hits.shared_urls")),
    path("health/", show_health, name="health"),
]
