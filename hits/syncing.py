"""Decides which offerings the scheduled sync visits; a sync collects, pays, caps workers and may ask for replacements.

If the study says so, a sync also requests more assignments in place of those that were lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from evalplatform.wording import count_of
from hits.budgeting import Waiting, open_places, spending, summarise_waiting
from hits.collecting import Collected, collect, free_returned, recently_rejected
from hits.crowds import Market, Met
from hits.deciding import AskedVotes, are_fourth_votes_due, ask_fourth_votes, has_stopped, is_rule_due
from hits.errors import MarketRefused
from hits.models import Assignment, Event, Offering, Payment, Publication, Study, Submission
from hits.models.money import money
from hits.paying import Paid, note_found_bonuses, pay
from hits.publishing import Limited, limit_workers, settle_offering
from hits.replacing import Replaced, has_unreplaced_losses, replace_lost_assignments
from hits.serving import end_old_leases

OnProgress = Callable[[str, int, int], None]


@dataclass
class Synced:
    """What a sync did."""

    collected: Collected
    paid: Paid
    limited: Limited
    replaced: Replaced | None  # None unless the study wants replacements at each sync
    asked: AskedVotes
    found_bonuses: int  # bonuses that somebody paid on the marketplace itself
    waiting: Waiting


def describe_sync(synced: Synced, currency: str) -> str:
    """Say in one line, for the event log, what the sync did."""
    collected, paid = synced.collected, synced.paid
    parts = [count_of(collected.new, "new submission"), describe_paid(paid, currency)]
    if paid.ordered:
        parts.append(f"{count_of(paid.ordered, 'bonus', 'bonuses')} ordered, which the crowd shows in some minutes")
    if synced.limited.capped:
        parts.append(f"{count_of(synced.limited.capped, 'worker has', 'workers have')} done enough")
    if collected.gone:
        parts.append(f"{count_of(collected.gone, 'HIT was', 'HITs were')} deleted there")
    if synced.found_bonuses:
        parts.append(f"{count_of(synced.found_bonuses, 'bonus was', 'bonuses were')} given there by hand")
    if synced.asked.hits:
        parts.append(f"{count_of(synced.asked.items, 'fourth vote')} asked for")
    if synced.waiting.count:
        parts.append(f"{count_of(synced.waiting.count, 'submission waits', 'submissions wait')} for a decision")
    return "; ".join(parts + [trouble.rstrip(".") for trouble in troubles_of(synced)])


def troubles_of(synced: Synced) -> list[str]:
    """Say what stood in the sync's way, one line each."""
    return [f"{what}: {trouble}" for what, met in _runs(synced) for trouble in met.troubles]


def account_refusals(synced: Synced) -> list[str]:
    """Say which parts of the sync the marketplace refused to the whole account, which somebody must settle there."""
    return [f"{what}: {met.stopped_by}" for what, met in _runs(synced) if isinstance(met.stopped_by, MarketRefused)]


def _runs(synced: Synced) -> list[tuple[str, Met]]:
    return [
        ("keeping workers out or letting them in", synced.limited),
        ("paying", synced.paid),
        ("asking for replacements", synced.replaced or Replaced()),
        ("asking for fourth votes", synced.asked),
    ]


def describe_paid(paid: Paid, currency: str) -> str:
    """Say what was paid or, where no money goes through the crowd, what is due elsewhere."""
    if paid.is_by_crowd:
        return (
            f"{count_of(paid.rewards, 'reward')} and {count_of(paid.bonuses, 'bonus', 'bonuses')} paid "
            f"({money(paid.cents, currency)} with fees)"
        )
    amounts = count_of(paid.due_elsewhere, "amount")
    return f"{amounts} more on the list of what is due elsewhere, {money(paid.due_cents, currency)}"


def describe_waiting(waiting: Waiting) -> str:
    """Tell the person who has to decide how much waits, and when the marketplace decides by itself."""
    what = "submission waits" if waiting.count == 1 else "submissions wait"
    text = f"{waiting.count:,} {what} for a person's decision on the Assignments page; nothing is paid meanwhile."
    if waiting.first_paid_at:
        text += f" From {waiting.first_paid_at:%d %b %Y, %H:%M} UTC on, the marketplace approves and pays by itself."
    return text


def unsettled_offerings() -> list[Offering]:
    """Return the offerings on which something may still happen: work to come, to be approved, or to be paid."""
    published = Offering.objects.filter(pk__in=Publication.objects.confirmed().values("offering"))
    return [one for one in published.select_related("study").order_by("study", "environment") if _is_unsettled(one)]


def _is_unsettled(offering: Offering) -> bool:
    waiting = Submission.objects.waiting().filter(assignment__offering=offering)
    owed = Payment.objects.owed().filter(submission__assignment__offering=offering)
    # Late work may come in when every place is filled.
    late = Assignment.objects.filter(offering=offering, place=Assignment.Place.EXTRA, submission=None)
    if waiting.exists() or owed.exists() or open_places(offering) or late.exists():
        return True
    if recently_rejected(offering, timezone.now()).exists() or is_rule_due(offering):
        return True
    if are_fourth_votes_due(offering):
        return True
    return not has_stopped(offering) and _replaces_by_itself(offering.study) and has_unreplaced_losses(offering)


def _replaces_by_itself(study: Study) -> bool:
    """Return whether syncs request replacements. They stop once the card orders are public: then a person should
    decide about more workers, and nobody watches a sync."""
    return _wants_replacements(study) and not _has_public_orders(study)


def _wants_replacements(study: Study) -> bool:
    return study.parsed_design.hits.replacements == "at each sync"


def _has_public_orders(study: Study) -> bool:
    return Study.objects.filter(pk=study.pk).exclude(orders_revealed_at=None).exists()


def _note_no_replacements(study: Study, now: datetime) -> None:
    """Note it once per study, in its events, which the monitor shows."""
    text = (
        "syncs no longer request replacements, because a bundle has made the card orders public. If you want more "
        "workers all the same, request them on the monitor, or with replace_assignments --orders-are-public"
    )
    with spending(study):  # so that two syncs at once write one event
        if not study.events.filter(text=text).exists():
            Event.objects.create(study=study, at=now, actor=None, text=text)


def sync(
    offering: Offering,
    market: Market,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda stage, done, total: None,
    is_asked_for: bool = True,
) -> Synced:
    """Sync the offering. It can run at any time, again, and twice at once. `on_progress` hears the stage and how far it
    is.

    `is_asked_for` is True if a person asked for it, and False if the clock did. All bonuses are read if a person asked,
    and otherwise once an hour.
    """
    collected = collect(offering, market, now(), lambda done, total: on_progress("Collecting", done, total))
    free_returned(offering, market)
    found = note_found_bonuses(offering, market, now(), is_asked_for)
    limited = limit_workers(offering, market, now())
    paid = pay(offering, market, now, lambda done, total: on_progress("Paying", done, total))
    replaced = None
    if has_stopped(offering):
        pass  # by its own rule: it needs no more work
    elif _replaces_by_itself(offering.study):
        replaced = replace_lost_assignments(offering, market, now)
    elif _wants_replacements(offering.study) and has_unreplaced_losses(offering):
        _note_no_replacements(offering.study, now())
    asked = ask_fourth_votes(offering, market, now)
    end_old_leases(offering, now())
    settle_offering(offering, market)
    return Synced(collected, paid, limited, replaced, asked, found, summarise_waiting(offering))
