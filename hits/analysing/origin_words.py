"""Says where the work behind results came from: people, a simulation or a rehearsal.

Every page, figure, table and file that shows results takes its words from here, so that what is not wholly from people
can't be mistaken for it anywhere. This file needs no pandas, because pages use it too.
"""

from dataclasses import dataclass, field

from evalplatform.wording import count_of
from hits.models import Offering, Submission

SIMULATED = "Simulated: not for publication"
REHEARSED = "Rehearsed: not for publication"
WARNINGS = (SIMULATED, REHEARSED)


@dataclass(frozen=True)
class Origin:
    """How many assignments came from where, screened or not: leaving simulated ones out makes no study of people. For
    ratings that were made elsewhere nothing is known, and all counts are 0."""

    people: int = 0
    simulation: int = 0
    rehearsal: int = 0
    warning: str = field(init=False)  # the sentence that whatever shows these results must show; "" if from people

    def __post_init__(self) -> None:
        object.__setattr__(self, "warning", SIMULATED if self.simulation else REHEARSED if self.rehearsal else "")

    @property
    def is_from_people(self) -> bool:
        return not self.warning

    @property
    def total(self) -> int:
        return self.people + self.simulation + self.rehearsal


def origin_of_work(offering: Offering) -> Origin:
    """Count the origins of all work that has ratings, as it is collected now."""
    return Origin(**Submission.objects.filter(assignment__offering=offering).with_answers().count_origins())


def describe_origin(origin: Origin) -> str:
    """Say the warning and the counts; "" if everything is from people."""
    return "" if origin.is_from_people else f"{origin.warning}. {count_origins(origin)}"


def count_origins(origin: Origin) -> str:
    """Say in a sentence how much came from where."""
    all_of_them = f"All {origin.total:,} assignments are" if origin.total != 1 else "The only assignment is"
    if origin.simulation == origin.total:
        return f"{all_of_them} by a simulated crowd: no person rated anything, and no pay is real."
    if origin.rehearsal == origin.total:
        return f"{all_of_them} from a rehearsal: the study's raters have not rated anything, and no pay is real."
    parts = {
        "by a simulated crowd": origin.simulation,
        "from a rehearsal": origin.rehearsal,
        "by people who are the study's raters": origin.people,
    }
    told = [f"{count:,} {'is' if count == 1 else 'are'} {whose}" for whose, count in parts.items() if count]
    return f"Of {count_of(origin.total, 'assignment')}, {', '.join(told[:-1])} and {told[-1]}."
