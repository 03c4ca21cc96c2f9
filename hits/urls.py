from django.urls import path

from hits.views import home, publishing, studies, study_form

urlpatterns = [
    path("", home.show_home, name="home"),
    path("studies/", studies.list_or_create, name="studies"),
    path("studies/<slug:name>/", studies.show_study, name="study"),
    path("studies/<slug:name>/build/", studies.build, name="build-study"),
    path("studies/<slug:name>/copy/", studies.copy, name="copy-study"),
    path("studies/<slug:name>/manifest.jsonl", studies.download_manifest, name="study-manifest"),
    path("studies/<slug:name>/publishing/", publishing.show_publishing, name="publishing"),
    path("studies/<slug:name>/publishing/cost/", publishing.show_publishing_cost, name="publishing-cost"),
    path("studies/<slug:name>/publish/", publishing.publish, name="publish-study"),
    path("studies/<slug:name>/publish/again/", publishing.publish_again, name="publish-again"),
    path("studies/<slug:name>/stop/", publishing.stop, name="stop-study"),
    path("studies/<slug:name>/resume/", publishing.resume, name="resume-study"),
    path("studies/<slug:name>/hits/<int:number>/", studies.show_hit, name="hit"),
    path("studies/<slug:name>/edit/<slug:step>/", study_form.edit_study, name="edit-study"),
    path("studies/<slug:name>/preview/task/", study_form.preview_task, name="preview-task"),
    path("studies/<slug:name>/preview/cost/", study_form.preview_cost, name="preview-cost"),
    path("studies/<slug:name>/plan/", study_form.show_plan, name="study-plan"),
]
