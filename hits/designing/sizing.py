"""Computes how many HITs a number of dialogs makes, how large they are, and what they cost at most."""

from collections import Counter
from dataclasses import dataclass
from math import ceil

from hits.crowds import Cost, planned_crowd
from hits.models.design import StudyDesign
from hits.protocols import protocol_of
from hits.stats import share_of_differing


@dataclass(frozen=True)
class BatchSize:
    """How many HITs there are. A block is a set of dialogs, published as one HIT, or as several if many raters are
    needed. A dialog that is shown with several line-ups (`Protocol.showings`) counts each time."""

    dialog_count: int
    dropped_count: int
    block_count: int
    assignments_of_hits: list[int]  # of each HIT of a block
    showings: int = 1  # of each dialog

    @property
    def different_dialogs(self) -> int:
        return self.dialog_count // self.showings

    @property
    def hit_count(self) -> int:
        return self.block_count * len(self.assignments_of_hits)

    @property
    def assignment_count(self) -> int:
        return self.block_count * sum(self.assignments_of_hits)

    @property
    def block_sizes(self) -> dict[int, int]:
        """Return {dialogs in a HIT: number of blocks of that size}, larger first."""
        smaller, larger_count = divmod(self.dialog_count, self.block_count) if self.block_count else (0, 0)
        sizes = {smaller + 1: larger_count, smaller: self.block_count - larger_count}
        return {size: count for size, count in sizes.items() if count}


def size_of_batches(design: StudyDesign, dialog_count: int) -> BatchSize:
    """Return the size. If the dialogs do not fill the last HIT, `spread` makes some HITs one dialog smaller, and
    `drop` leaves the remaining dialogs out."""
    showings = protocol_of(design).showings
    dialog_count *= showings
    full_blocks, rest = divmod(dialog_count, design.hits.dialogs_per_hit)
    assignments = planned_crowd(design).fees.split_assignments(design.hits.assignments)
    if design.hits.uneven_end == "drop" and full_blocks and showings == 1:
        return BatchSize(dialog_count - rest, rest, full_blocks, assignments)
    return BatchSize(dialog_count, 0, full_blocks + bool(rest), assignments, showings)


def cost_of(design: StudyDesign, size: BatchSize) -> Cost:
    """Return what these HITs cost at most."""
    hits = Counter(size.assignments_of_hits)
    per_hit = {assignments: count * size.block_count for assignments, count in hits.items()}
    return planned_crowd(design).fees.worst_case_cost(design.pay.reward_cents, design.pay.bonus_cents, per_hit)


@dataclass(frozen=True)
class FourthVotes:
    """What a design that asks for fourth votes may come to beside its own HITs."""

    items: int  # on which two models are compared
    expected_items: float  # that need a fourth vote, if votes fall as in the papers
    expected_hits: int
    most_hits: int  # if every item needed one
    cost: Cost  # of the most


PAPERS_VOTES = (0.4, 0.3, 0.3)  # wins, ties and losses in A/B tests of MIME and EmpDG, about


def fourth_votes_of(design: StudyDesign, size: BatchSize) -> FourthVotes | None:
    """Return what fourth votes may come to; None if the design asks for none."""
    if protocol_of(design).verdict_rule != "fourth vote":
        return None
    items = size.dialog_count - design.checkpoints.per_hit * size.block_count
    expected = items * share_of_differing(*PAPERS_VOTES)
    most_hits = ceil(items / fourth_vote_room(design))
    most = planned_crowd(design).fees.worst_case_cost(design.pay.reward_cents, design.pay.bonus_cents, {1: most_hits})
    return FourthVotes(items, expected, ceil(expected / fourth_vote_room(design)), most_hits, most)


def fourth_vote_room(design: StudyDesign) -> int:
    """Return how many items a HIT for fourth votes has, beside as many checkpoints as any other HIT."""
    return design.hits.dialogs_per_hit - design.checkpoints.per_hit


def rating_count(design: StudyDesign, size: BatchSize) -> int:
    """Return how many ratings of generators' replies to expect; those of gold cards come on top."""
    return size.dialog_count * protocol_of(design).ratings_per_item * design.hits.assignments


def hourly_pay_cents(design: StudyDesign) -> int:
    """Return what the reward alone pays per hour at the expected time. The bonus does not count, since nobody is
    sure of it."""
    return round(design.pay.reward_cents * 60 / design.pay.expected_minutes)
