"""Answer GetAccountBalance: what is available, and what open HITs hold."""

from datetime import datetime

from localturk.funds import get_account
from localturk.operations.operation_table import Answer, Params, operation
from localturk.rendering import dollars


@operation("GetAccountBalance")
def get_account_balance(params: Params, now: datetime) -> Answer:
    account = get_account()
    return {"AvailableBalance": dollars(account.available_cents), "OnHoldBalance": dollars(account.held_cents)}
