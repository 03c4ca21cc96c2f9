"""Puts the screenings of several offerings together: whom each rule leaves out, and what is left.

In: offerings of one study, each with a screening of its own, or none. Out: what `submissions_by_rule` and the funnel
say of one offering. Guaranteed: an exclusion holds in the offering in which a rule found it, and in no other; a funnel
is added up only where all offerings were screened by the same rules.
"""

from collections.abc import Sequence

from hits.models import Offering, ScreeningRun
from hits.screening.funnel import Counts, Funnel, FunnelStep, funnel_of
from hits.screening.keeping import screening_warning, submissions_by_rule


def pooled_submissions_by_rule(offerings: Sequence[Offering]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for one in offerings:
        for rule, submissions in submissions_by_rule(ScreeningRun.objects.current(one)).items():
            found.setdefault(rule, []).extend(submissions)
    return found


def are_screened_alike(offerings: Sequence[Offering]) -> bool:
    """Return whether the current screenings have the same rules with the same settings, or there is none anywhere."""
    runs = [ScreeningRun.objects.current(one) for one in offerings]
    return len({None if run is None else str(run.rules) for run in runs}) <= 1


def pooled_funnel(offerings: Sequence[Offering]) -> Funnel | None:
    """Add up the funnels. A worker of two offerings was received in both, and is counted in both."""
    funnels = [funnel_of(ScreeningRun.objects.current(one)) for one in offerings]
    known = [one for one in funnels if one is not None]
    if len(known) < len(funnels) or not are_screened_alike(offerings):
        return None
    return Funnel(
        received=_sum([one.received for one in known]),
        steps=[
            FunnelStep(
                rule=steps[0].rule,
                parameters=steps[0].parameters,
                left_out=_sum([one.left_out for one in steps]),
                named_before=sum(one.named_before for one in steps),
                left=_sum([one.left for one in steps]),
            )
            for steps in zip(*(one.steps for one in known), strict=True)
        ],
    )


def pooled_warning(offerings: Sequence[Offering]) -> str:
    """Say which offerings' results don't rest on the study's own screening; "" if all do."""
    told = [f"{one.marketplace}: {warning}" for one in offerings if (warning := screening_warning(one))]
    if not are_screened_alike(offerings):
        told.append("The offerings were not screened by the same rules.")
    return " ".join(told)


def _sum(counts: Sequence[Counts]) -> Counts:
    names = list(Counts.model_fields)
    return Counts(**{name: sum(getattr(one, name) for one in counts) for name in names})
