"""Invites members to a study, and removes them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from evalplatform.errors import EvalPlatformError
from hits.access import can_invite, invite, remove_member, study_for, visible_studies
from hits.views.refused import refused_form
from hits.views.study_overview import render_study
from hits.views.study_pages import back_to_study, user_of


@require_http_methods(["GET", "POST"])
def invite_member(request: HttpRequest, name: str) -> HttpResponse:
    study, user = study_for(request.user, name=name), user_of(request)
    if request.method == "POST" and user is not None:
        try:
            invited = invite(study, request.POST.get("user_name", "").strip(), user, timezone.now())
        except EvalPlatformError as error:
            field = "member-name" if can_invite(study, user) else ""  # without that right, the page has no such field
            return render_study(request, study, refused_form("members", error, request.POST.dict(), field))
        messages.success(request, f"{invited} can see the study now.")
    return back_to_study(request, study)


@require_http_methods(["GET", "POST"])
def take_member_out(request: HttpRequest, name: str) -> HttpResponse:
    study, user = study_for(request.user, name=name), user_of(request)
    user_name = request.POST.get("user_name", "")
    if request.method == "POST" and user is not None:
        try:
            remove_member(study, user_name, user, timezone.now())
        except EvalPlatformError as error:
            return render_study(request, study, refused_form("members", error, {}))
        messages.success(request, f"{user_name} can't see the study any more.")
    has_left = not visible_studies(request.user).filter(pk=study.pk).exists()
    return redirect("studies") if has_left else back_to_study(request, study)
