"""The address of the marketplace's Requester API."""

from django.urls import path

from localturk import api_view

urlpatterns = [path("api/", api_view.call_api, name="localturk-api")]
