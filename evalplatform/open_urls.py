"""List the addresses of pages that need no session: the worker's and the health page (middleware.skip_sessions)."""

from django.urls import include, path

from evalplatform.health import show_health

urlpatterns = [
    path("work/", include("hits.worker_urls")),
    path("health/", show_health, name="health"),
]
