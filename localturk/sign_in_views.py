"""Show the pages on which workers sign in and out, and choose a password through an invitation."""

from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from evalplatform.errors import EvalPlatformError
from evalplatform.throttling import TooManyAttempts
from localturk.openness import is_open
from localturk.signing_in import (
    choose_password,
    forget_worker,
    invited_worker,
    remember_worker,
    worker_of,
    worker_with_password,
)

NO_MATCH = "Worker ID and password don't match. Both are case-sensitive."


def _market_page(view: Any) -> Any:
    @login_not_required
    @never_cache
    @wraps(view)
    def show(request: HttpRequest, **ids: str) -> HttpResponse:
        if not is_open() or not settings.MUST_WORKERS_SIGN_IN:
            raise Http404
        response: HttpResponse = view(request, **ids)
        return response

    return show


@sensitive_post_parameters("password")
def show_sign_in(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        if worker_of(request) is not None:
            return redirect("market-hits")
        return render(request, "localturk/sign_in.html")
    worker_id, password = request.POST.get("worker", ""), request.POST.get("password", "")
    try:
        worker = worker_with_password(request, worker_id, password, timezone.now())
    except TooManyAttempts as too_many:
        context = {"problem": str(too_many), "worker_id": worker_id}
        response = render(request, "localturk/sign_in.html", context, status=429)
        response.headers["Retry-After"] = str(too_many.seconds)
        return response
    if worker is None:
        return render(request, "localturk/sign_in.html", {"problem": NO_MATCH, "worker_id": worker_id})
    response = redirect("market-hits")
    remember_worker(request, response, worker)
    return response


@_market_page
@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
def accept_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show the invitation, and use it only when a password is sent: mail programs may open a link before people do."""
    problem, invited = "", invited_worker(token, timezone.now())
    if request.method == "POST":
        try:
            worker = choose_password(token, request.POST.get("password", ""), timezone.now())
        except EvalPlatformError as error:
            problem = str(error)
        else:
            response = redirect("market-hits")
            remember_worker(request, response, worker)
            return response
    context = {"invited": invited, "problem": problem}
    return render(request, "localturk/invitation.html", context, status=200 if invited else 404)


@_market_page
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    response = redirect("market")
    forget_worker(response)
    return response
