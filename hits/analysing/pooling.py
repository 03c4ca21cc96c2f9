"""Decides which offerings of a study may be put together in one result: those whose work has the same origin.

In: a study. Out: its pools, and the offerings of each. Guaranteed: simulated, rehearsed and people's work is never in
one pool; an offering whose work is not all of one origin counts as the worse kind, as everywhere (decision 30). This
file needs no pandas, because pages use it too.
"""

from collections.abc import Sequence

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.analysing.origin_words import Origin, origin_of_work
from hits.models import Offering, Pool, Scope, Study, Submission

FEWEST = 2  # offerings
KINDS = {
    Submission.Origin.PEOPLE: "by people who are the study's raters",
    Submission.Origin.SIMULATION: "simulated",
    Submission.Origin.REHEARSAL: "rehearsed",
}


def offerings_of(scope: Scope) -> list[Offering]:
    """Return the offerings that a result is about, in the order in which the study was offered there."""
    if isinstance(scope, Offering):
        return [scope]
    return [one for one, kind in kinds_of_offerings(scope.study) if kind == scope.origin]


def kinds_of_offerings(study: Study) -> list[tuple[Offering, Submission.Origin]]:
    """Return each offering that has ratings, and what its work counts as."""
    found = []
    for one in study.offerings.order_by("pk"):
        one.study = study  # the caller's own object, which may have parsed its design already
        origin = origin_of_work(one)
        if origin.total:
            found.append((one, _kind_of(origin)))
    return found


def _kind_of(origin: Origin) -> Submission.Origin:
    if origin.simulation:
        return Submission.Origin.SIMULATION
    return Submission.Origin.REHEARSAL if origin.rehearsal else Submission.Origin.PEOPLE


def origin_of_scope(scope: Scope) -> Origin:
    """Count the origins of all work in an offering, or in all offerings of a pool."""
    found = [origin_of_work(one) for one in offerings_of(scope)]
    return Origin(
        people=sum(one.people for one in found),
        simulation=sum(one.simulation for one in found),
        rehearsal=sum(one.rehearsal for one in found),
    )


def pools_of(study: Study) -> list[Pool]:
    """Return what can be put together: for each origin, the offerings whose work has it, if there are several."""
    kinds = [kind for _, kind in kinds_of_offerings(study)]
    return [find_pool(study, kind) for kind in KINDS if kinds.count(kind) >= FEWEST]


def find_pool(study: Study, origin: str) -> Pool:
    """Return the pool of this origin, and create its row if there is none. Refuse one of fewer than two offerings."""
    known = kinds_of_offerings(study)
    count = sum(kind == origin for _, kind in known)
    if count < FEWEST:
        whose = KINDS[Submission.Origin(origin)]
        told = f" There is {describe_kinds(known)}." if known else ""
        raise EvalPlatformError(
            f"{study} has {count_of(count, 'offering')} whose work is all {whose}: there is nothing to put "
            f"together.{told}"
        )
    pool, _ = Pool.objects.get_or_create(study=study, origin=origin)
    pool.study = study
    return pool


def describe_kinds(known: Sequence[tuple[Offering, Submission.Origin]]) -> str:
    """Say of each offering what its work is: "sandbox (rehearsed), link.live (by people ...)"."""
    return ", ".join(f"{one.marketplace} ({KINDS[kind]})" for one, kind in known)


def describe_left_out(pool: Pool) -> str:
    """Say which offerings are not in the pool, because their work is of another origin; "" if all are."""
    others = [(one, kind) for one, kind in kinds_of_offerings(pool.study) if kind != pool.origin]
    if not others:
        return ""
    are = "is" if len(others) == 1 else "are"
    return f"Not counted here {are} {describe_kinds(others)}: work of different origin is never put together."
