from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

urlpatterns = [
    path("", include("generation.urls")),
    path("", include("hits.urls")),
    path("localturk/", include("hits.localturk.urls")),
    path("market/", include("hits.localturk.worker_urls")),
    path("api/", include("hits.api.urls")),
    path("", include("evalplatform.open_urls")),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
]
