"""Tell Django about the app `localturk`."""

from django.apps import AppConfig


class LocalTurkConfig(AppConfig):
    name = "localturk"
    label = "localturk"
    verbose_name = "Local marketplace"
