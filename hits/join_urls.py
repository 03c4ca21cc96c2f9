"""The addresses at which people join a study by a link."""

from django.urls import path

from hits.views import joining_page

urlpatterns = [path("<slug:key>/", joining_page.show_or_join, name="join")]
