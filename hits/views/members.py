"""A study's members: invited on its page, and taken out there."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from evalplatform.errors import EvalPlatformError
from hits.models import Study
from hits.sharing import invite, study_for, take_out, visible_studies
from hits.views.study_pages import user_of


@require_POST
def invite_member(request: HttpRequest, name: str) -> HttpResponse:
    study, user = study_for(request.user, name=name), user_of(request)
    try:
        if user is not None:
            invited = invite(study, request.POST.get("user_name", "").strip(), user, timezone.now())
            messages.success(request, f"{invited} sees the study now.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    return _back(study)


@require_POST
def take_member_out(request: HttpRequest, name: str) -> HttpResponse:
    study, user = study_for(request.user, name=name), user_of(request)
    user_name = request.POST.get("user_name", "")
    try:
        if user is not None:
            take_out(study, user_name, user, timezone.now())
            messages.success(request, f"For {user_name} there is no such study any more.")
    except EvalPlatformError as error:
        messages.error(request, str(error))
    has_left = not visible_studies(request.user).filter(pk=study.pk).exists()
    return redirect("studies") if has_left else _back(study)


def _back(study: Study) -> HttpResponse:
    return redirect(f"{reverse('study', args=[study.name])}#members")
