"""Answer what a study would cost, and what it costs and has cost in bonuses, with fee and VAT."""

from typing import Any

from django.db.models import Sum

from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, endpoint
from localprolific.endpoints.prolific_study_endpoints import own_study
from localprolific.errors import missing, wrong
from localprolific.models import WalletEntry, Workspace
from localprolific.wallet import cost_cents, fee_cents, tax_cents


@endpoint("POST", "study-cost-calculator/")
def calculate_cost(call: ApiCall) -> ApiAnswer:
    reward, places = (_whole(call, name) for name in ("reward", "total_available_places"))
    return ApiAnswer({"total_cost": places * cost_cents(call.workspace, reward)})


@endpoint("GET", "studies/{study_id}/cost/")
def show_cost(call: ApiCall, study_id: str) -> ApiAnswer:
    study = own_study(call, study_id)
    workspace, places = study.workspace, study.total_available_places
    reward = study.reward_cents
    bonuses = WalletEntry.objects.filter(submission__study=study, kind=WalletEntry.Kind.BONUS)
    paid = bonuses.aggregate(amount=Sum("amount_cents"), fee=Sum("fee_cents"))
    fee_and_tax = paid["fee"] or 0
    tax = fee_and_tax * workspace.vat_bps // (10_000 + workspace.vat_bps)
    shape = {
        "rewards": _amounts(
            workspace, places * reward, places * fee_cents(workspace, reward), places * tax_cents(workspace, reward)
        ),
        "bonuses": _amounts(workspace, paid["amount"] or 0, fee_and_tax - tax, tax),
        "_links": {"self": {"href": f"{call.base_url}/api/v1/studies/{study_id}/cost/", "title": "Cost"}},
    }
    return ApiAnswer(shape)


def _amounts(workspace: Workspace, rewards: int, fees: int, tax: int) -> dict[str, Any]:
    named = {"rewards": rewards, "fees": fees, "tax": tax}
    return {name: {"amount": cents, "currency": workspace.currency} for name, cents in named.items()}


def _whole(call: ApiCall, name: str) -> int:
    value = call.fields().get(name)
    if value is None:
        raise missing(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise wrong(name, "A valid integer is required.")
    return value
