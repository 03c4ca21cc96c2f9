"""Puts the funnel and the evidence into words, for the terminal."""

from collections.abc import Iterator, Sequence

from evalplatform.wording import count_of
from hits.models.screening_rule import Finding
from hits.screening.fact_words import describe_facts
from hits.screening.funnel import Counts, Funnel

COLUMNS = ("workers", "assignments", "answers", "ratings")


def describe_funnel(funnel: Funnel) -> Iterator[str]:
    names = [f"- {step.rule} ({describe_facts(step.parameters)})" for step in funnel.steps]
    width = max(len(name) for name in ("received", *names)) + 2
    yield " " * width + "".join(f"{name:>13}" for name in COLUMNS)
    yield "received".ljust(width) + _format_counts(funnel.received)
    for name, step in zip(names, funnel.steps, strict=True):
        before = f"   ({step.named_before:,} more were out already)" if step.named_before else ""
        yield name.ljust(width) + _format_counts(step.left_out, "-") + before
        yield "  left".ljust(width) + _format_counts(step.left)
    yield "kept".ljust(width) + _format_counts(funnel.kept)


def _format_counts(counts: Counts, sign: str = "") -> str:
    values = [getattr(counts, name) for name in COLUMNS]
    return "".join(f"{sign if value else ''}{value:,}".rjust(13) for value in values)


def describe_evidence(rule: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line for each worker; single assignments of the same worker share one."""
    by_worker: dict[str, list[Finding]] = {}
    for finding in findings:
        by_worker.setdefault(finding.worker, []).append(finding)
    for worker, found in by_worker.items():
        if found[0].submission is None:
            yield f"{worker}  {rule}: {describe_facts(found[0].evidence)}"
        else:
            which = "; ".join(describe_facts(finding.evidence) for finding in found)
            yield f"{worker}  {rule} in {count_of(len(found), 'assignment')}: {which}"
