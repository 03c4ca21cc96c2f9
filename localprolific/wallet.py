"""Hold, release and pay money of a workspace, and say what places and bonuses cost.

In: a workspace, and an amount in pence or cents. Out: changed sums, or an error. Guaranteed: each change is one
conditional UPDATE, so that two calls at once can't spend the same penny.

A fee is a share of what participants get, and VAT a share of the fee. Both are rounded up for each place, so that the
places of a study cost exactly what they cost one by one. Prolific's own rounding is not published.
"""

import time
from datetime import datetime

from django.db.models import F

from localprolific.errors import TooMany, insufficient_funds
from localprolific.models import ProlificStudy, ProlificSubmission, WalletEntry, Workspace

LONGEST_CALL_SECONDS = 2  # after that, a process that died in a money call keeps nobody waiting


def fee_cents(workspace: Workspace, cents: int) -> int:
    return _share(cents, workspace.fee_bps)


def tax_cents(workspace: Workspace, cents: int) -> int:
    return _share(fee_cents(workspace, cents), workspace.vat_bps)


def cost_cents(workspace: Workspace, cents: int) -> int:
    """Return what it costs to pay somebody this: the amount, its fee, and VAT on the fee."""
    return cents + fee_cents(workspace, cents) + tax_cents(workspace, cents)


def bonus_costs(workspace: Workspace, cents: int, has_fractions: bool) -> tuple[float, float, float]:
    """Return fees, VAT and the total of a bonus list in pence or cents, in hundredths of them if asked for."""
    unit = 100 if has_fractions else 1
    fees = _share(cents * unit, workspace.fee_bps)
    tax = _share(fees, workspace.vat_bps)
    return fees / unit, tax / unit, (cents * unit + fees + tax) / unit


def hold(workspace: Workspace, cents: int) -> None:
    _change(workspace, needed_cents=cents, held_cents=F("held_cents") + cents)


def release(workspace: Workspace, cents: int) -> None:
    _change(workspace, needed_cents=0, held_cents=F("held_cents") - cents)


def pay_held(workspace: Workspace, cents: int) -> None:
    _change(workspace, 0, held_cents=F("held_cents") - cents, balance_cents=F("balance_cents") - cents)


def hold_for_study(study: ProlificStudy, cents: int) -> None:
    """Let the study hold exactly this, by holding more or releasing some."""
    if cents > study.held_cents:
        hold(study.workspace, cents - study.held_cents)
    elif cents < study.held_cents:
        release(study.workspace, study.held_cents - cents)
    study.held_cents = cents


def pay_for_work(submission: ProlificSubmission, cents: int, kind: str, now: datetime) -> None:
    """Pay for a submission, with what its study holds before anything else. Whoever calls lets the study hold enough
    again."""
    study = submission.study
    workspace = study.workspace
    cost = cost_cents(workspace, cents)
    hold_for_study(study, study.held_cents - min(study.held_cents, cost))
    study.save()
    _change(workspace, needed_cents=cost, balance_cents=F("balance_cents") - cost)
    note_payment(submission, cents, cost - cents, kind, now)


def pay_for_all(study: ProlificStudy, submissions: list[ProlificSubmission], now: datetime) -> None:
    """Pay the reward of each, as if by one call after the other."""
    workspace, cents = study.workspace, study.reward_cents
    cost = cost_cents(workspace, cents)
    hold_for_study(study, study.held_cents - min(study.held_cents, cost * len(submissions)))
    study.save()
    _change(workspace, cost * len(submissions), balance_cents=F("balance_cents") - cost * len(submissions))
    WalletEntry.objects.bulk_create(
        WalletEntry(
            kind=WalletEntry.Kind.REWARD,
            workspace=workspace,
            submission=submission,
            amount_cents=cents,
            fee_cents=cost - cents,
            paid_at=submission.reviewed_at or now,
        )
        for submission in submissions
    )


def note_payment(submission: ProlificSubmission, cents: int, fee: int, kind: str, now: datetime) -> None:
    WalletEntry.objects.create(
        kind=kind,
        workspace=submission.study.workspace,
        submission=submission,
        amount_cents=cents,
        fee_cents=fee,
        paid_at=now,
    )


def _change(workspace: Workspace, needed_cents: int, **changes: object) -> None:
    covered = Workspace.objects.filter(pk=workspace.pk, balance_cents__gte=F("held_cents") + needed_cents)
    if not covered.update(**changes):
        raise insufficient_funds()


def _share(cents: int, bps: int) -> int:
    return -(-cents * bps // 10_000)


def occupy(workspace: Workspace) -> None:
    """Take the wallet for one money call. Whoever comes meanwhile is told to come later, as Prolific does."""
    seconds = time.time()
    free = Workspace.objects.filter(pk=workspace.pk, wallet_busy_until__lte=seconds)
    if not free.update(wallet_busy_until=seconds + LONGEST_CALL_SECONDS):
        raise TooMany("The wallet of this workspace is busy. Try again in a moment.")


def vacate(workspace: Workspace, busy_seconds: float) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(
        wallet_busy_until=time.time() + busy_seconds if busy_seconds else 0
    )
