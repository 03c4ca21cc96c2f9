"""A screening run's funnel as rows of a table."""

from typing import Any

from hits.models import ScreeningRun
from hits.screening.fact_words import describe_facts
from hits.screening.funnel import Funnel
from hits.screening.keeping import unscreened_count


def funnel_rows(run: ScreeningRun) -> dict[str, Any]:
    funnel = Funnel.model_validate(run.funnel)
    return {
        "run": run,
        "received": funnel.received,
        "steps": [
            {"rule": step.rule, "parameters": describe_facts(step.parameters), "left_out": step.left_out}
            for step in funnel.steps
        ],
        "kept": funnel.kept,
        "unscreened": unscreened_count(run),
    }
