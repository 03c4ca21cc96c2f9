"""Says in which designs a screening rule can't do what it says: its limit is never reached, or everybody reaches it.

In: a design and what a rule needs of it. Out: problems, which the study form shows at the rule, and cautions. A rule
names what it needs; the counting and the words are here, so that all rules say the same thing alike.
"""

from evalplatform.wording import count_of
from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.protocols import protocol_of
from hits.screening.findings import FEWEST_DIALOGS

REMOVE = "leave the rule out"
USUAL_POINTS = 2  # that the paper's rules ask for, of three checkpoints


def too_few_dialogs(design: StudyDesign, field: str = "share") -> list[DesignProblem]:
    """Report a rule about "almost all dialogs" where no worker can answer enough of them."""
    most = min(design.hits.dialogs_per_hit * design.crowd.max_hits_per_worker, _dialogs(design))
    if most >= FEWEST_DIALOGS:
        return []
    return [
        DesignProblem(
            field,
            f"a worker can answer {count_of(most, 'dialog')} at most, and only workers with {FEWEST_DIALOGS} or more "
            f"are judged, so that it finds nobody; {REMOVE}",
        )
    ]


def too_few_checkpoints(design: StudyDesign, wanted: int) -> list[DesignProblem]:
    """Report a rule that judges workers from so many checkpoints on, if nobody can meet that many."""
    most = design.checkpoints.per_hit * most_hits(design)
    if wanted <= most:
        return []
    return [
        DesignProblem(
            "checkpoints",
            f"a worker can meet {count_of(most, 'checkpoint')} at most, and only workers with {wanted:,} or more are "
            f"judged, so that it finds nobody; lower it, or {REMOVE}",
        )
    ]


def most_hits(design: StudyDesign) -> int:
    """Return on how many HITs one worker can work."""
    return min(design.crowd.max_hits_per_worker, _hits_with_other_dialogs(design))


def no_checks(design: StudyDesign, field: str) -> list[DesignProblem]:
    """Report a rule about checks where workers check nothing while they work."""
    if design.checkpoints.feedback != "after submission":
        return []
    message = f"workers learn their points after submission and check nothing, so that it finds nobody; {REMOVE}"
    return [DesignProblem(field, message)]


def single_cards(design: StudyDesign, field: str) -> list[DesignProblem]:
    """Report a rule that compares a dialog's cards where each dialog has one answer only."""
    protocol = protocol_of(design)
    is_comparison = protocol.criteria[0].is_comparison
    if len(protocol.line_up(0, False)) > 1 and not is_comparison:
        return []
    why = "two replies are compared" if is_comparison else "one model makes one card a dialog"
    message = f"it compares the cards of a dialog, and here {why}, so that it finds nobody; {REMOVE}"
    return [DesignProblem(field, message)]


def never_alike(design: StudyDesign, field: str) -> list[DesignProblem]:
    """Report a rule about the same answer to all cards of a dialog where the answer puts them in order."""
    if not protocol_of(design).puts_in_order:
        return []
    message = f"nobody can answer the same about all replies of a dialog here, so that it says nothing; {REMOVE}"
    return [DesignProblem(field, message)]


def too_few_raters(design: StudyDesign, field: str, wanted: int) -> list[DesignProblem]:
    """Report a rule that compares workers if too few of them see the same dialog."""
    raters = design.hits.assignments
    if raters >= wanted:
        return []
    return [
        DesignProblem(
            field,
            f"it needs {count_of(wanted, 'worker')} for each dialog, and there {'is' if raters == 1 else 'are'} "
            f"{raters} (hits.assignments), so that it finds nobody; {REMOVE}",
        )
    ]


def points_out_of_reach(design: StudyDesign, points: int, consequence: str) -> list[DesignProblem]:
    """Report a number of points that nobody can win, or that everybody has; and the usual points of fewer checkpoints
    than the paper had, which forgive no slip."""
    most = design.checkpoints.per_hit
    if points == most == USUAL_POINTS:
        message = (
            f"{points} points of {count_of(most, 'checkpoint')} a HIT: a single slip is enough, where the paper "
            f"forgives one of three; lower it, have more checkpoints, or {REMOVE}"
        )
        return [DesignProblem("points", message)]
    if points == 0:
        return [DesignProblem("points", f"nobody has fewer than 0 points, so that it finds nobody; {REMOVE}")]
    if points <= most:
        return []
    return [
        DesignProblem(
            "points",
            f"{count_of(points, 'point')} can never be won with {count_of(most, 'checkpoint')} a HIT, so "
            f"{consequence}; lower it, or {REMOVE}",
        )
    ]


def all_points_wanted(design: StudyDesign, rule: str, points: int) -> list[str]:
    """Caution that one slip is enough, where a rule asks for the points of all checkpoints: who asks for three of three
    means it, and who has two of two has taken the paper's rule for fewer checkpoints, which is a problem."""
    if points <= USUAL_POINTS or points != design.checkpoints.per_hit:
        return []
    return [
        f"{rule} asks for {points} points of {points} checkpoints: a single slip is enough, where the paper forgives "
        "one of three"
    ]


def points_of_comparisons(design: StudyDesign, rule: str) -> list[str]:
    """Caution about points where replies are compared: careful workers lose them, too."""
    protocol = protocol_of(design)
    if not protocol.criteria[0].is_comparison:
        return []
    ties = "" if "tie" in protocol.passing_values else ", and a tie wins none"
    return [
        f"{rule} is about points, which careful workers often miss where replies are compared: they may well prefer a "
        f"model's reply to the human one{ties}. Rehearse how much work it would leave out"
    ]


def _dialogs(design: StudyDesign) -> int:
    return sum(part.dialog_count for part in design.datasets) * protocol_of(design).showings


def _hits_with_other_dialogs(design: StudyDesign) -> int:
    """Count the HITs that one worker may do: no two of them have the same dialogs."""
    return -(-_dialogs(design) // design.hits.dialogs_per_hit)
