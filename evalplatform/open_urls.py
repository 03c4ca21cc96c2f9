"""List the addresses of pages that need no session: the worker's, links', health, shared (middleware.skip_sessions)."""

from django.urls import include, path

from evalplatform.health import show_health

urlpatterns = [
    path("work/", include("hits.worker_urls")),
    path("join/", include("hits.join_urls")),
    path("shared/", include("hits.shared_urls")),
    path("health/", show_health, name="health"),
]
