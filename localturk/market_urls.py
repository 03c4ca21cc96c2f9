"""The addresses of the marketplace's worker pages."""

from django.urls import path

from localturk import sign_in_views, worker_views

urlpatterns = [
    path("", worker_views.choose_worker, name="market"),
    path("invitation/<str:token>/", sign_in_views.accept_invitation, name="market-invitation"),
    path("sign-out/", sign_in_views.sign_out, name="market-sign-out"),
    path("hits/", worker_views.show_hits, name="market-hits"),
    path("hits/<slug:hit_id>/preview/", worker_views.preview_hit, name="market-preview"),
    path("hits/<slug:hit_id>/accept/", worker_views.accept_hit, name="market-accept"),
    path("work/<slug:assignment_id>/", worker_views.work, name="market-work"),
    path("work/<slug:assignment_id>/return/", worker_views.return_hit, name="market-return"),
    # Pages post to turkSubmitTo + /mturk/externalSubmit, so this path is MTurk's.
    path("mturk/externalSubmit", worker_views.external_submit, name="market-submit"),
]
