"""Counts the work that was lost in each HIT: left out by the study's rules, rejected, or without answers."""

from dataclasses import dataclass, replace
from math import ceil

from hits.budgeting import confirmed_places, extra_counts, submitted_counts
from hits.crowds import crowd_of, fees_of
from hits.models import Offering, Publication, ScreeningRun, Submission
from hits.screening import first_rules


@dataclass(frozen=True)
class Loss:
    """How many of a HIT's submissions are lost, and why."""

    excluded: int = 0  # excluded by the study's own rules, or without answers
    rejected: int = 0  # or given back because somebody asked for it
    beyond_share: int = 0  # without answers, undecided, and beyond the share that is replaced: waits for a person

    @property
    def count(self) -> int:
        """How many are to be replaced."""
        return self.excluded + self.rejected


def losses(offering: Offering) -> dict[int, Loss]:
    """Return each HIT's losses. Only the study's own rules count: exploring other rules costs no money."""
    own = ScreeningRun.objects.filter(offering=offering, undone_at=None, is_frozen_rules=True)
    left_out = first_rules(own.first())
    found: dict[int, Loss] = {}
    submissions = Submission.objects.filter(assignment__offering=offering)
    allowed = _undecided_allowance(offering)
    columns = ("pk", "assignment__hit", "status", "problem", "decided_at")
    # In the order in which they came, so that each run replaces the same ones, and a decision lets the next one in.
    for pk, hit, status, problem, decided_at in submissions.order_by("pk").values_list(*columns):
        is_rejected = status in Submission.EARNS_NOTHING
        if not is_rejected and not problem and pk not in left_out:
            continue
        before = found.get(hit, Loss())
        if is_rejected:
            found[hit] = replace(before, rejected=before.rejected + 1)
        elif problem and decided_at is None and not allowed:
            found[hit] = replace(before, beyond_share=before.beyond_share + 1)
        else:
            found[hit] = replace(before, excluded=before.excluded + 1)
            allowed -= bool(problem) and decided_at is None
    return found


def _undecided_allowance(offering: Offering) -> int:
    """Return how many undecided submissions may be replaced: a share of what was published, rounded up."""
    share = offering.study.parsed_design.hits.replace_undecided_share
    published = Publication.objects.filter(offering=offering).confirmed().current()
    return ceil(round(share * sum(published.values_list("hit__assignments", flat=True)), 6))


def has_unreplaced_losses(offering: Offering) -> bool:
    """Tell if a replacement could be requested, as far as we know without asking the marketplace."""
    if not crowd_of(offering).abilities.can_reopen:
        return False
    lost, places = losses(offering), confirmed_places(offering)
    submitted, extra = submitted_counts(offering), extra_counts(offering)
    most = fees_of(offering).most_assignments
    on_offer = Publication.objects.filter(offering=offering).open()
    for hit, made, closed_at in on_offer.values_list("hit", "hit__assignments", "closed_at"):
        kept = submitted.get(hit, 0) - lost.get(hit, Loss()).count
        unfilled = places[hit] - (submitted.get(hit, 0) - extra.get(hit, 0))
        coming = unfilled if closed_at is None else 0
        if kept + coming < made and (places[hit] < most or unfilled > 0):
            return True
    return False
