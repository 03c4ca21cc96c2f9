"""Pay and list bonuses."""

from datetime import datetime
from decimal import Decimal

from hits.crowds.mturk.costs import MTurkFees
from localturk import funds, ids
from localturk.errors import RequestError, does_not_exist, invalid
from localturk.models import BonusPayment, LedgerEntry, TurkAssignment, WorkerMessage
from localturk.operations.finding import find_assignment, find_assignment_to_change, find_hit, find_worker
from localturk.operations.operation_table import Answer, Params, operation
from localturk.paging import page_of
from localturk.rendering import bonus_shape, dollars
from localturk.request_tokens import TokenKind, use_token


@operation("SendBonus")
def send_bonus(params: Params, now: datetime) -> Answer:
    """Pay a bonus for any submitted assignment, approved or not. AWS requires only that the worker did it."""
    # Lock the HIT first and then the money, as everywhere. Otherwise an approval at the same moment could deadlock.
    _, assignment = find_assignment_to_change(params["AssignmentId"])
    if assignment.status == TurkAssignment.Status.ACCEPTED:
        # MTurk was seen to answer this before an assignment is submitted.
        raise does_not_exist("Assignment", assignment.assignment_id)
    if find_worker(params["WorkerId"]) != assignment.worker:
        raise invalid("WorkerId", f"is not who submitted assignment {assignment.assignment_id}.")
    use_token(TokenKind.BONUS, params.get("UniqueRequestToken"), ids.new_id(), now)
    _pay_bonus(assignment, int(Decimal(params["BonusAmount"]) * 100), params["Reason"], now)
    return {}


def _pay_bonus(assignment: TurkAssignment, amount_cents: int, reason: str, now: datetime) -> None:
    fee_cents = MTurkFees().bonus_fee_cents(amount_cents)
    funds.pay(amount_cents + fee_cents)
    BonusPayment.objects.create(
        assignment=assignment,
        hit=assignment.hit,
        worker=assignment.worker,
        amount_cents=amount_cents,
        reason=reason,
        granted_at=now,
    )
    LedgerEntry.objects.create(
        kind=LedgerEntry.Kind.BONUS,
        assignment=assignment,
        worker=assignment.worker,
        amount_cents=amount_cents,
        fee_cents=fee_cents,
        paid_at=now,
    )
    subject = f"Bonus of ${dollars(amount_cents)}"
    WorkerMessage.objects.create(worker=assignment.worker, subject=subject, text=reason, sent_at=now)


@operation("ListBonusPayments")
def list_bonus_payments(params: Params, now: datetime) -> Answer:
    bonuses = BonusPayment.objects.select_related("assignment", "worker")
    if "AssignmentId" in params:
        scope = params["AssignmentId"]
        bonuses = bonuses.filter(assignment=find_assignment(scope))
    elif "HITId" in params:
        scope = params["HITId"]
        bonuses = bonuses.filter(hit=find_hit(scope))
    else:
        raise RequestError("AWS.MissingParameters", "Either HITId or AssignmentId must be given.")
    page, counts = page_of(bonuses, params, f"bonuses {scope}")
    return {"BonusPayments": [bonus_shape(bonus) for bonus in page], **counts}
