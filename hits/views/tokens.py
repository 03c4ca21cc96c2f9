"""Makes a researcher's API tokens, shows each once, and revokes them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from evalplatform.errors import EvalPlatformError
from hits.access import make_token, revoke_token
from hits.models import ApiToken
from hits.views.refused import STATUS, refused_form
from hits.views.study_pages import user_of


@require_http_methods(["GET", "POST"])
@never_cache
def show_or_make(request: HttpRequest) -> HttpResponse:
    """Show the tokens, or make one. A new token appears in the answer to this request and nowhere else."""
    user, token, refused = user_of(request), "", None
    if request.method == "POST" and user is not None:
        try:
            token = make_token(user, request.POST.get("label", ""), timezone.now())
        except EvalPlatformError as error:
            refused = refused_form("tokens", error, request.POST.dict(), "token-label")
    tokens = ApiToken.objects.valid().filter(user=user)
    context = {"tokens": tokens, "token": token, "refused": refused}
    return render(request, "hits/tokens.html", context, status=STATUS if refused else 200)


@require_POST
def revoke(request: HttpRequest, key: int) -> HttpResponse:
    user = user_of(request)
    if user is not None:
        revoke_token(user, key, timezone.now())
        messages.success(request, "The token is revoked: programs can't use it any more.")
    return redirect("tokens")
