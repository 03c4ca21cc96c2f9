"""The addresses at which people join a study: by an open link, or by one of their own."""

from django.urls import path

from hits.views import invited_page, joining_page

urlpatterns = [
    path("<slug:key>/", joining_page.show_or_join, name="join"),
    path("invited/<slug:secret>/", invited_page.show_or_begin, name="invited"),
]
