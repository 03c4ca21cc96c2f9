"""A valid design in numbers: its HITs, its cost, its hourly pay, and whether looks give the human replies away."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalplatform.wording import count_of
from generation.models import Dialog
from generation.style_check import StyleReport, check_style
from hits.crowds import USUAL_FEES, Cost
from hits.designing.design_words import describe_cost, describe_hourly_pay, dollars
from hits.designing.selecting import Selection, chunks, select_dialogs
from hits.designing.sizing import BatchSize, cost_of, hourly_pay_cents, rating_count, size_of_batches
from hits.models import Study
from hits.models.design import StudyDesign

AMPLE_TIME = 2  # times the expected one
MOST_DIALOGS_LOOKED_AT = 300  # of a draft, whose page waits for it: the interval is up to 6 points wide to each side


@dataclass(frozen=True)
class CostPart:
    name: str
    cents: int

    @property
    def dollars(self) -> str:
        return dollars(self.cents)


def parts_of(cost: Cost) -> list[CostPart]:
    return [
        CostPart("Rewards", cost.reward_cents),
        CostPart("Fees on rewards", cost.reward_fee_cents),
        CostPart("Bonuses, at most", cost.bonus_cents),
        CostPart("Fees on bonuses", cost.bonus_fee_cents),
    ]


@dataclass(frozen=True)
class Summary:
    design: StudyDesign
    size: BatchSize
    cost: Cost
    ratings: int
    hourly_pay_cents: int
    hourly_pay: str
    lines: list[str]

    @property
    def total(self) -> str:
        return dollars(self.cost.total_cents)

    @property
    def cost_parts(self) -> list[CostPart]:
        return parts_of(self.cost)

    @property
    def is_pay_below_minimum(self) -> bool:
        return self.hourly_pay_cents < self.design.pay.minimum_hourly_cents


def summarise(design: StudyDesign, chosen: Sequence[Selection] | None = None) -> Summary:
    """Of a draft, with what its data gives today: `chosen`, where that is known."""
    selections = select_dialogs(design) if chosen is None else chosen
    size = size_of_batches(design, sum(len(selection.dialogs) for selection in selections))
    return _summary(design, size, list(_describe_choice(design, selections)))


def summarise_frozen(study: Study) -> Summary:
    """Of what was built, whatever has been imported since."""
    design = study.parsed_design
    manifest = study.manifest or {}
    size = BatchSize(manifest["dialogs"], 0, manifest["blocks"], USUAL_FEES.split_assignments(design.hits.assignments))
    return _summary(design, size, [])


def _summary(design: StudyDesign, size: BatchSize, notes: list[str]) -> Summary:
    return Summary(
        design,
        size,
        cost_of(design, size),
        rating_count(design, size),
        hourly_pay_cents(design),
        describe_hourly_pay(design),
        [*describe_cost(design, size), *_describe_time(design), *notes],
    )


def _describe_time(design: StudyDesign) -> Iterator[str]:
    """Half of the workers are slower than the median one. Below the expected time, the design is refused."""
    limit, expected = design.crowd.time_limit_minutes, design.pay.expected_minutes
    if limit < AMPLE_TIME * expected:
        yield (
            f"the time limit of {count_of(limit, 'minute')} is less than twice the {count_of(expected, 'minute')} that "
            "a HIT takes: slow workers lose their work and their pay"
        )


def _describe_choice(design: StudyDesign, selections: Sequence[Selection]) -> Iterator[str]:
    """Where the data gives less than was asked for, or is chosen from less than there is."""
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
    """The style check on the study's own dialogs that may carry a checkpoint, and on its own generators, as shown."""
    eligible = [selection for selection in selections if selection.dataset in design.checkpoints.datasets]
    golds = [dialog for selection in eligible for dialog in selection.dialogs if dialog.has_gold]
    # The selections are in seeded order, one dataset after the other: every n-th is a sample of them all.
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
