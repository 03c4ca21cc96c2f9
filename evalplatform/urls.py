"""All addresses of the site."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import include, path

from evalplatform.log_in import LogInView, go_to_log_in

urlpatterns = [
    path("", include("generation.urls")),
    path("", include("hits.urls")),
    path("api/", include("hits.api.urls")),
    path("", include("evalplatform.open_urls")),
    path("login/", LogInView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("admin/login/", go_to_log_in),
    path("admin/", admin.site.urls),
]
if settings.LOCAL_MARKET:
    urlpatterns += [
        path("localturk/", include("localturk.urls")),
        path("market/", include("localturk.market_urls")),
        path("localprolific/", include("localprolific.urls")),
    ]
