"""The addresses of the researcher's pages about datasets and models."""

from django.urls import path

from generation.views import datasets, generator_pages

urlpatterns = [
    path("datasets/", datasets.list_datasets, name="datasets"),
    path("datasets/<int:pk>/", datasets.show_dataset, name="dataset"),
    path("datasets/<int:pk>/style-check/", datasets.show_style_check, name="style-check"),
    path("datasets/<int:pk>/style-check/request/", datasets.request_style_check, name="request-style-check"),
    path("dialogs/<int:pk>/", datasets.show_dialog, name="dialog"),
    path("models/", generator_pages.list_generators, name="generators"),
    path("models/<int:pk>/", generator_pages.show_generator, name="generator"),
    path("models/<int:pk>/runs/", generator_pages.show_runs, name="generation-runs"),
    path("models/<int:pk>/generate/", generator_pages.generate, name="generate"),
    path("models/runs/<int:pk>/failures/", generator_pages.list_failures, name="generation-failures"),
    path("models/runs/<int:pk>/pause/", generator_pages.pause, name="pause-generation"),
    path("models/runs/<int:pk>/resume/", generator_pages.resume, name="resume-generation"),
    path("models/runs/<int:pk>/cancel/", generator_pages.cancel, name="cancel-generation"),
]
