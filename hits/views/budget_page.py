"""Changes a study's budget on a marketplace, from its monitor page."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from evalplatform.errors import EvalPlatformError
from hits.budgeting import set_cap, spending
from hits.crowds import check_may_change
from hits.models.money import cents_typed
from hits.views.monitor import back_to_monitor, render_monitor
from hits.views.publishing_panel import refuse_unseen_budget
from hits.views.refused import refused_form
from hits.views.study_pages import find_offering, tells_refusals, user_of

FIELD = "study-budget"  # the field's id


@require_http_methods(["GET", "POST"])
@tells_refusals
def change_budget(request: HttpRequest, name: str) -> HttpResponse:
    """Change the budget. A browser may ask for the address of a refused form by GET; it then gets the monitor."""
    offering = find_offering(request, name)
    if request.method == "GET":
        return redirect("monitor", name=name)
    check_may_change(offering)
    typed: dict[str, Any] = request.POST.dict()
    try:
        with spending(offering.study):
            if "budget_shown" in typed:  # a program that sends no budget means it
                refuse_unseen_budget(offering, typed, FIELD)
            cents = cents_typed(str(typed.get("budget", "")).strip() or None, "The budget", offering.currency)
            if cents is None and typed.get("is_meant") != "yes":
                raise EvalPlatformError("Write an amount, or tick that there is to be no budget any more.")
            set_cap(offering, cents, user_of(request), timezone.now())
    except EvalPlatformError as error:
        return render_monitor(request, offering, refused_form("budget", error, typed, FIELD))
    messages.success(request, "The budget is changed. It holds for all spending from now on.")
    return back_to_monitor(offering)
