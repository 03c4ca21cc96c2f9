from django.apps import AppConfig


class LocalTurkConfig(AppConfig):
    name = "hits.localturk"
    label = "localturk"
    verbose_name = "Local marketplace"
