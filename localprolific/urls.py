"""The addresses of the local Prolific: its API, its key set, and its participants' pages."""

from django.urls import path

from localprolific import http_api, participant_views

urlpatterns = [
    path("api/v1/<path:rest>", http_api.call_api, name="prolific-api"),
    path(".well-known/study/jwks.json", http_api.show_keys, name="prolific-keys"),
    path("", participant_views.choose_participant, name="prolific"),
    path("studies/", participant_views.show_studies, name="prolific-studies"),
    path("studies/<slug:study_id>/reserve/", participant_views.reserve_place, name="prolific-reserve"),
    # Studies send people to this path of Prolific's, which has no slash at its end.
    path("submissions/complete", participant_views.complete_work, name="prolific-complete"),
    path("submissions/<slug:submission_id>/", participant_views.show_submission, name="prolific-submission"),
    path("submissions/<slug:submission_id>/go/", participant_views.go_to_study, name="prolific-go"),
    path("submissions/<slug:submission_id>/return/", participant_views.return_place, name="prolific-return"),
    path("earned/", participant_views.show_earnings, name="prolific-earned"),
]
