from django.urls import include, path
from turkle.admin import admin_site  # type: ignore[import-not-found]

urlpatterns = [
    path("admin/", admin_site.urls),
    path("", include("django.contrib.auth.urls")),
    path("", include("turkle.urls")),
]
