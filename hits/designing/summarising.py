"""Sums up a valid design, and warns of what is unwise: a tight time limit, looks that give the human reply away."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalplatform.wording import count_of
from generation.models import Dialog
from generation.style_check import StyleReport, check_style
from hits.crowds import Cost, planned_crowd
from hits.designing.analysis_words import describe_analysis, tested_dialogs, warn_of_analysis
from hits.designing.design_words import describe_cost, describe_hourly_pay
from hits.designing.selecting import Selection, chunks, select_dialogs
from hits.designing.sizing import BatchSize, cost_of, fourth_votes_of, hourly_pay_cents, rating_count, size_of_batches
from hits.models import Study
from hits.models.design import StudyDesign
from hits.models.money import money
from hits.protocols import protocol_of

AMPLE_TIME = 2  # a time limit is ample at this multiple of the expected time
MOST_DIALOGS_LOOKED_AT = 300  # in a draft, since a page waits for it: the interval is then at most ±6 points


@dataclass(frozen=True)
class CostPart:
    """One part of a cost, with its name."""

    name: str
    cents: int
    currency: str

    @property
    def amount(self) -> str:
        return money(self.cents, self.currency)


def split_cost(cost: Cost, currency: str) -> list[CostPart]:
    """Return the parts of a cost, as pages list them."""
    return [
        CostPart("Rewards", cost.reward_cents, currency),
        CostPart("Fees on rewards", cost.reward_fee_cents, currency),
        CostPart("Bonuses, at most", cost.bonus_cents, currency),
        CostPart("Fees on bonuses", cost.bonus_fee_cents, currency),
    ]


@dataclass(frozen=True)
class Summary:
    """What a design comes to."""

    design: StudyDesign
    size: BatchSize
    cost: Cost  # of the study's own HITs
    fourth_votes: Cost | None  # at most, if the design asks for them
    ratings: int
    hourly_pay_cents: int
    hourly_pay: str
    lines: list[str]
    analysis: list[str]  # what it is to show, and when it stops
    warnings: list[str]  # why it could find nothing

    @property
    def total_cents(self) -> int:
        return self.cost.total_cents + (self.fourth_votes.total_cents if self.fourth_votes else 0)

    @property
    def total(self) -> str:
        return money(self.total_cents, self.design.pay.currency)

    @property
    def cost_parts(self) -> list[CostPart]:
        parts, currency = split_cost(self.cost, self.design.pay.currency), self.design.pay.currency
        if self.fourth_votes:
            parts.append(CostPart("Fourth votes, at most", self.fourth_votes.total_cents, currency))
        return parts

    @property
    def is_pay_below_minimum(self) -> bool:
        return self.hourly_pay_cents < self.design.pay.minimum_hourly_cents


def summarise(design: StudyDesign, chosen: Sequence[Selection] | None = None) -> Summary:
    """Return the summary of a draft, by today's data. `chosen` saves choosing the dialogs again."""
    selections = select_dialogs(design) if chosen is None else chosen
    size = size_of_batches(design, sum(len(selection.dialogs) for selection in selections))
    return _make_summary(design, size, list(_describe_choice(design, selections)))


def summarise_frozen(study: Study) -> Summary:
    """Return the summary of what was built, whatever has been imported since."""
    design = study.parsed_design
    manifest = study.manifest or {}
    split = planned_crowd(design).fees.split_assignments(design.hits.assignments)
    size = BatchSize(manifest["dialogs"], 0, manifest["blocks"], split, protocol_of(design).showings)
    return _make_summary(design, size, [])


def _make_summary(design: StudyDesign, size: BatchSize, notes: list[str]) -> Summary:
    fourth = fourth_votes_of(design, size)
    return Summary(
        design,
        size,
        cost_of(design, size),
        fourth.cost if fourth else None,
        rating_count(design, size),
        hourly_pay_cents(design),
        describe_hourly_pay(design),
        [*describe_cost(design, size), *_describe_time(design), *_describe_rules(design), *notes],
        list(describe_analysis(design, size.different_dialogs, size.hit_count)),
        list(warn_of_analysis(design, tested_dialogs(design, size.different_dialogs))),
    )


def _describe_time(design: StudyDesign) -> Iterator[str]:
    """Warn if the time limit is short: half of all workers are slower than the median. (A limit below the expected
    time is refused.)"""
    limit, expected = design.crowd.time_limit_minutes, design.pay.expected_minutes
    if limit < AMPLE_TIME * expected:
        yield (
            f"the time limit of {count_of(limit, 'minute')} is less than twice the {count_of(expected, 'minute')} that "
            "a HIT takes: slow workers lose their work and their pay"
        )


def _describe_rules(design: StudyDesign) -> Iterator[str]:
    for rule in design.screening:
        yield from rule.cautions(design)
    protocol, finds_it = protocol_of(design), any(rule.is_about_one_answer for rule in design.screening)
    if design.checkpoints.per_hit and protocol.is_won_by_one_answer and not finds_it:
        yield (
            "who gives one answer everywhere can win every point without reading, and no screening rule finds them: "
            "name a rule about the same answer"
        )


def _describe_choice(design: StudyDesign, selections: Sequence[Selection]) -> Iterator[str]:
    """Say where the data gives fewer dialogs than the design asks for, and where dialogs were passed over."""
    for part, selection in zip(design.datasets, selections, strict=True):
        if len(selection.dialogs) < part.dialog_count:
            asked = count_of(part.dialog_count, "dialog")
            yield f"{part.name} gives {len(selection.dialogs):,} of the {asked} asked for"
        if selection.skipped_count:
            skipped = count_of(selection.skipped_count, "dialog is", "dialogs are")
            yield f"{part.name}: {skipped} passed over: not every model answered"


def check_study_style(
    design: StudyDesign, selections: Sequence[Selection], most_dialogs: int = MOST_DIALOGS_LOOKED_AT
) -> StyleReport:
    """Check the style of the dialogs that may carry a checkpoint, with the study's generators, as workers see them."""
    eligible = [selection for selection in selections if selection.dataset in design.checkpoints.datasets]
    golds = [dialog for selection in eligible for dialog in selection.dialogs if dialog.has_gold]
    # The dialogs are in seeded order, one dataset after the other, so every n-th is a fair sample of all datasets.
    sample = golds[:: -(-len(golds) // most_dialogs) or 1]
    return check_style(
        (
            design.shown(dialog.display_gold),
            [
                design.shown(one.display_text)
                for one in dialog.candidates.all()
                if one.generator.name in design.generators
            ],
        )
        for chunk in chunks(sample)
        for dialog in Dialog.objects.filter(pk__in=[one.pk for one in chunk]).prefetch_related("candidates__generator")
    )
