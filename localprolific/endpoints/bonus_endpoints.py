"""Take bonus lists, which moves no money, and orders to pay them, which does, each time that it is asked for."""

import math
import re
from datetime import timedelta
from decimal import Decimal

from localprolific import misbehaving, wallet
from localprolific.behaviour import behaviour
from localprolific.endpoints.endpoint_table import ApiAnswer, ApiCall, endpoint
from localprolific.endpoints.prolific_study_endpoints import own_study
from localprolific.errors import NotFound, wrong
from localprolific.hex_ids import new_id
from localprolific.misbehaving import Kind
from localprolific.models import BonusLine, BonusList, BonusOrder, ProlificStudy, ProlificSubmission

LINE = re.compile(r"\s*([A-Za-z0-9]+)\s*,\s*([0-9]+(?:\.[0-9]{1,2})?)\s*")
TOO_EARLY = ("RESERVED", "ACTIVE")


@endpoint("POST", "submissions/bonus-payments/")
def create_bonus_payments(call: ApiCall) -> ApiAnswer:
    """Take a list. Its amounts are whole currency, so 30 is thirty pounds; the answer's are pence or cents."""
    study = own_study(call, call.text("study_id"))
    read = [_read_line(study, text) for text in call.text("csv_bonuses").strip().splitlines()]
    if not read:
        raise wrong("csv_bonuses", "There is no bonus in it.")
    if len(read) > behaviour().most_bonus_rows:
        raise wrong("csv_bonuses", f"At most {behaviour().most_bonus_rows} bonuses at a time.")
    if not behaviour().are_bonus_duplicates_taken and len({one.pk for one, _ in read}) < len(read):
        raise wrong("csv_bonuses", "A participant stands in it twice.")
    bonus_list = BonusList.objects.create(list_id=new_id(), study=study, created_at=call.now)
    for submission, cents in read:
        BonusLine.objects.create(bonus_list=bonus_list, submission=submission, amount_cents=cents)
    amount = sum(cents for _, cents in read)
    fees, tax, total = wallet.bonus_costs(study.workspace, amount, behaviour().are_bonus_fees_fractions)
    shape = {
        "id": bonus_list.list_id,
        "study": study.study_id,
        "amount": amount,
        "fees": fees,
        "vat": tax,
        "total_amount": total,
    }
    return ApiAnswer(shape, 201)


@endpoint("POST", "bulk-bonus-payments/{list_id}/pay/", moves_money=True)
def pay_bonus_payments(call: ApiCall, list_id: str) -> ApiAnswer:
    """Order the payment of a list: the same list twice is paid twice, as Prolific says."""
    own = BonusList.objects.filter(study__workspace=call.workspace, study__deleted_at=None)
    bonus_list = own.select_related("study__workspace").filter(list_id=list_id).first()
    if bonus_list is None:
        raise NotFound("Bonus payment not found.")
    workspace = bonus_list.study.workspace
    amount = sum(bonus_list.lines.values_list("amount_cents", flat=True))
    cost = math.ceil(wallet.bonus_costs(workspace, amount, behaviour().are_bonus_fees_fractions)[2])
    wallet.hold(workspace, cost)
    BonusOrder.objects.create(
        bonus_list=bonus_list,
        ordered_at=call.now,
        held_cents=cost,
        shown_after_seconds=misbehaving.amount_of(Kind.BONUS_LAG) or 0,
        due_at=call.now + timedelta(seconds=behaviour().bonus_payment_seconds),
    )
    return ApiAnswer("Bonus payments are being processed.", 202)


def _read_line(study: ProlificStudy, text: str) -> tuple[ProlificSubmission, int]:
    found = LINE.fullmatch(text)
    if found is None:
        raise wrong("csv_bonuses", f"{text!r} is not of the form id,amount.")
    cents = int(Decimal(found[2]) * 100)
    if not cents:
        raise wrong("csv_bonuses", "A bonus must be above 0.")
    submission = _submission_of(study, found[1])
    allowed = ("APPROVED", "PARTIALLY APPROVED", "SCREENED OUT")
    if submission.status in TOO_EARLY or (behaviour().need_bonuses_approval and submission.status not in allowed):
        raise wrong("csv_bonuses", f"{found[1]} can't get a bonus, because the status is {submission.status}.")
    return submission, cents


def _submission_of(study: ProlificStudy, given: str) -> ProlificSubmission:
    """Return the submission that an id stands for: its own, or the participant's latest one in this study."""
    own = study.submissions.order_by("pk")
    found = own.filter(submission_id=given).first() or own.filter(participant__participant_id=given).last()
    if found is None:
        raise wrong("csv_bonuses", f"{given} did not take part in this study.")
    return found
