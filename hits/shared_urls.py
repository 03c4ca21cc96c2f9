"""The addresses of pages that a share link opens, without an account."""

from django.urls import path

from hits.views import shared

urlpatterns = [
    path("<str:token>/", shared.show_results, name="shared-results"),
    path("<str:token>/dialogs/", shared.show_dialogs, name="shared-dialogs"),
]
