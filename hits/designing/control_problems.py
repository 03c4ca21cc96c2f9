"""Finds why a design's attention checks and repeats can't be built: too many of them, or words that tell nothing."""

from collections.abc import Iterator, Sequence

from evalplatform.wording import count_of
from hits.designing.selecting import Selection
from hits.designing.sizing import size_of_batches
from hits.errors import DesignProblem
from hits.models.design import ANSWER_TOLD, StudyDesign


def find_impossible_controls(design: StudyDesign) -> Iterator[DesignProblem]:
    """Look at the settings alone. hits/batching/placed_controls.py says which dialogs can come again."""
    rules, dialogs = design.checkpoints, design.hits.dialogs_per_hit
    if rules.controls > max(0, dialogs - 1 - rules.per_hit):
        message = (
            f"{count_of(rules.controls, 'attention check or repeat', 'attention checks and repeats')} can't be made of "
            f"{count_of(dialogs, 'dialog')} a HIT, of which {rules.per_hit} are checkpoints and the last one can't "
            "come again; lower it, or have more dialogs in a HIT"
        )
        yield DesignProblem(rules.control_setting, message)
    if rules.attention_text and ANSWER_TOLD not in rules.attention_text:
        yield DesignProblem(
            "checkpoints.attention_text", f"does not say what to answer: write {ANSWER_TOLD} where the answer belongs"
        )


def find_too_small_hits(design: StudyDesign, selections: Sequence[Selection]) -> list[DesignProblem]:
    """Report HITs that the dialogs don't fill, so that too few can come again."""
    size = size_of_batches(design, sum(len(selection.dialogs) for selection in selections))
    smallest, needed = min(size.block_sizes, default=0), design.checkpoints.controls + design.checkpoints.per_hit + 1
    if not design.checkpoints.controls or smallest >= needed:
        return []
    message = f"some HITs have only {count_of(smallest, 'dialog')}, and it takes {needed}; lower it"
    return [DesignProblem(design.checkpoints.control_setting, message)]
