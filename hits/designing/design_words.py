"""Puts a design's size, cost, hourly pay and warnings into words, and says which reward would be fair."""

from collections.abc import Iterator, Mapping
from typing import Any

from evalplatform.wording import count_of
from hits.designing.sizing import BatchSize, cost_of, fourth_votes_of, hourly_pay_cents, rating_count
from hits.models.design import CheckpointPart, StudyDesign
from hits.models.money import money


def describe_size(design: StudyDesign, size: BatchSize) -> Iterator[str]:
    """Yield sentences about the number of HITs, and where they are smaller, split or dialogs are left out."""
    sizes = ", ".join(f"{count:,} with {count_of(dialogs, 'dialog')}" for dialogs, count in size.block_sizes.items())
    shown = f", each shown {size.showings} times," if size.showings > 1 else ""
    makes = "makes" if size.different_dialogs == 1 else "make"
    dialogs = count_of(size.different_dialogs, "dialog")
    yield f"{dialogs}{shown} {makes} {count_of(size.block_count, 'HIT')}: {sizes}"
    if design.checkpoints.controls:
        yield (
            f"each HIT also has {describe_controls(design.checkpoints)}, which make no ratings, but take time: count "
            "it in the minutes that a HIT takes"
        )
    if len(size.assignments_of_hits) > 1:
        parts = " + ".join(map(str, size.assignments_of_hits))
        yield (
            f"{design.hits.assignments} assignments are split into {parts}, since ten or more on one HIT double the "
            f"fee: {count_of(size.hit_count, 'HIT')} in all"
        )
    if min(size.block_sizes, default=design.hits.dialogs_per_hit) < design.hits.dialogs_per_hit:
        yield f"the dialogs don't fill HITs of {design.hits.dialogs_per_hit}, so some are smaller, at the same pay"
    if size.dropped_count:
        yield f"{count_of(size.dropped_count, 'dialog is', 'dialogs are')} left out, so that every HIT is full"


def describe_controls(rules: CheckpointPart) -> str:
    """Name a HIT's controls: "1 attention check and 2 repeats"."""
    counted = [(rules.attention_checks, "attention check"), (rules.repeats, "repeat")]
    return " and ".join(count_of(count, name) for count, name in counted if count)


def describe_cost(design: StudyDesign, size: BatchSize) -> Iterator[str]:
    """Yield sentences about the size, and what it costs at most."""
    cost, currency = cost_of(design, size), design.pay.currency
    ratings = rating_count(design, size)
    yield from describe_size(design, size)
    bonuses = money(cost.bonus_cents + cost.bonus_fee_cents, currency)
    yield (
        f"{count_of(cost.assignment_count, 'assignment')}: {money(cost.reward_cents, currency)} rewards + "
        f"{money(cost.reward_fee_cents, currency)} fees + at most {bonuses} bonuses "
        f"with fees = at most {money(cost.total_cents, currency)}"
    )
    yield from _describe_fourth_votes(design, size)
    yield f"{count_of(ratings, 'rating')}, at most {cost.total_cents / ratings:.2f} cents each"


def _describe_fourth_votes(design: StudyDesign, size: BatchSize) -> Iterator[str]:
    fourth, currency = fourth_votes_of(design, size), design.pay.currency
    if fourth is None:
        return
    most, votes = money(fourth.cost.total_cents, currency), 3 + fourth.expected_items / fourth.items
    yield (
        "a fourth person is asked where three votes all differ: with 40 % wins and 30 % losses, as in papers, on about "
        f"{fourth.expected_items:.0f} of {count_of(fourth.items, 'item')} ({votes:.3f} votes each), in "
        f"{count_of(fourth.expected_hits, 'further HIT')}; at most in {fourth.most_hits:,}, for {most} more"
    )
    budget = design.pay.budget_cents
    in_all = cost_of(design, size).total_cents + fourth.cost.total_cents
    if budget is not None and budget < in_all:
        yield (
            f"the budget of {money(budget, currency)} is below the {money(in_all, currency)} that the study costs at "
            "most with all fourth votes: some items may stay undecided"
        )


def describe_hourly_pay(design: StudyDesign) -> str:
    """Say what the reward pays per hour, and which reward would reach the study's minimum if it does not."""
    hourly, minimum = hourly_pay_cents(design), design.pay.minimum_hourly_cents
    currency = design.pay.currency
    minutes = count_of(design.pay.expected_minutes, "minute")
    pay = f"{money(design.pay.reward_cents, currency)} for {minutes} is {money(hourly, currency)} an hour"
    if not design.pay.reward_cents:
        pay = "Nobody is paid"
    if hourly >= minimum:
        return pay
    fair = int(-(-minimum * design.pay.expected_minutes // 60))
    return (
        f"{pay}, below your minimum of {money(minimum, currency)}: it takes a reward of {money(fair, currency)} to "
        "reach it"
    )


def style_warning(report: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what a researcher should know before publishing: that looks give the human replies away, or that there
    are too few replies to tell."""
    if report is None:
        return
    if not report["is_notable"]:
        if not report["is_judged"] and report["dialog_count"]:  # a study without checkpoints has no such dialogs
            yield f"Whether looks give the human replies away is not known. {report['sentence']}"
        return
    yield f"Warning: looks give the human replies away. {report['sentence']}"
    for giveaway in report["giveaways"]:
        yield f"  given away by {giveaway['words']}"
    for advice in report["advice"]:
        yield f"  {advice}"
