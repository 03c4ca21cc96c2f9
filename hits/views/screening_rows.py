"""A screening run's funnel as rows of a table. Read from the run itself: pandas is for making one only."""

from typing import Any

from hits.models import ScreeningRun, Submission
from hits.screening.fact_words import describe_facts


def funnel_rows(run: ScreeningRun) -> dict[str, Any]:
    received, steps = run.funnel["received"], run.funnel["steps"]
    kept = steps[-1]["left"] if steps else received
    return {
        "run": run,
        "received": received,
        "steps": [
            {
                "rule": step["rule"],
                "parameters": describe_facts(step["parameters"]),
                "left_out": step["left_out"],
                "left": step["left"],
            }
            for step in steps
        ],
        "kept": kept,
        "unscreened": _submissions(run) - int(received["assignments"]),
    }


def _submissions(run: ScreeningRun) -> int:
    of_study = Submission.objects.filter(assignment__hit__study=run.study_id, assignment__environment=run.environment)
    return of_study.filter(problem="").count()
