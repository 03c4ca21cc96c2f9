"""Tell Django about the app `localprolific`."""

from django.apps import AppConfig


class LocalProlificConfig(AppConfig):
    name = "localprolific"
    label = "localprolific"
    verbose_name = "Local Prolific"
