"""The addresses of the local Prolific: its API, its key set, and its participants' pages."""

from django.urls import path

from localprolific import http_api

urlpatterns = [
    path("api/v1/<path:rest>", http_api.call_api, name="localprolific-api"),
    path(".well-known/study/jwks.json", http_api.show_keys, name="localprolific-keys"),
]
