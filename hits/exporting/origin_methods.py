"""Writes what methods and datasheet say about raters where the work is not wholly from people.

Such a study recruited nobody and paid nobody, whatever its design and the local ledger say, so these words stand
instead of those about recruiting, pay and time.
"""

import re
from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.analysing import Origin, count_origins
from hits.exporting.bundle_facts import Sources

NOBODY = "Nobody was recruited or paid."


def describe_raters(sources: Sources) -> Iterator[str]:
    """Yield who handed the work in: made-up workers, people who rehearsed, or a mixture."""
    origin, facts, place = sources.results.origin, sources.facts, sources.facts.place
    work = count_of(facts.submissions, "assignment")
    if origin.simulation == origin.total:
        yield (
            f"A simulated crowd of {count_of(facts.workers, 'made-up worker')} handed in {work} on {place}: a program "
            "chose every rating, and no person took part."
        )
        yield NOBODY
    elif origin.rehearsal == origin.total:
        yield (
            f"In a rehearsal on {place}, {count_of(facts.workers, 'account')} handed in {work}: those who tried the "
            "study out were not its raters."
        )
        yield NOBODY
    else:
        yield f"The work was handed in on {place}. {count_origins(origin)}"
        yield "All numbers here count them together, so they describe no study of people." if origin.people else NOBODY


def name_workers(text: str, origin: Origin) -> str:
    """Say what kind of workers the text speaks about, so that no sentence of it can be taken for one about a crowd."""
    kind = {origin.simulation: "made-up", origin.rehearsal: "rehearsing"}.get(origin.total)
    if origin.is_from_people or kind is None:
        return text
    named = re.sub(rf"(?<!{kind} )\bworker(s?)\b", rf"{kind} worker\1", text)
    return re.sub(r"\bWorker(s?)\b", rf"{kind.capitalize()} worker\1", named)
