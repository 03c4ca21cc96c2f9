"""Tell Django about the app `generation`."""

from django.apps import AppConfig


class GenerationConfig(AppConfig):
    name = "generation"
