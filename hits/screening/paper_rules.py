"""The rules of the paper (Xie and Pu 2021, section 5.4.2), in its words and as we read them.

"We discarded answers from low-quality workers, i.e., those who provided the same answer for almost all dialogs, and
those who completed the tasks in less than five minutes and failed to obtain at least two bonus points. Then, to
calculate the human evaluation scores, we further selected out those assignments with at least two bonus points."
"""

import pandas as pd

from hits.frames.study_frames import Frames
from hits.models.design import HastyWithoutPoints, SameAnswer, TooFewPoints
from hits.screening.findings import FEWEST_DIALOGS, Finding, counts_by_worker, findings_of, plain


def same_answer(frames: Frames, rule: SameAnswer) -> list[Finding]:
    """ "The same answer": one and the same area. "For almost all dialogs": for at least `share` of all cards of the
    worker in all HITs, 95 % unless the study says otherwise (the paper has no number). A card counts once, also when
    several models wrote it. Of two replies that are compared, the answer is which place is preferred. Workers who
    answered fewer than five dialogs are not judged.
    """
    areas = counts_by_worker(frames.cards_by_place, "value")
    dialogs = frames.answers.groupby("worker", observed=True).size()
    total = areas.sum(axis=1)
    facts = pd.DataFrame({"share": areas.max(axis=1) / total, "area": areas.idxmax(axis=1), "cards": total})
    is_same = areas.max(axis=1) >= rule.share * total - 1e-9
    return findings_of(facts[is_same & (dialogs.reindex(facts.index) >= FEWEST_DIALOGS)])


def hasty_without_points(frames: Frames, rule: HastyWithoutPoints) -> list[Finding]:
    """The paper speaks of workers here and of assignments in its next sentence. So: who did one HIT in less than
    `minutes` and won fewer than `points` in the same HIT is left out with all their work. ("The tasks" are the dialogs
    of a HIT: its page says "This HIT consists of 10 tasks".) Time is `work_seconds`: how long the worker looked at the
    dialogs, and at most from accepting to submitting; a HIT that waits accepted in a queue was not worked on.
    """
    submissions = frames.submissions
    is_hasty = (submissions["work_seconds"] < 60 * rule.minutes) & (submissions["points"] < rule.points)
    hasty = submissions[is_hasty].sort_values(["work_seconds", "submission"])
    by_worker = hasty.groupby("worker", observed=True)
    facts = pd.DataFrame(
        {
            "minutes": by_worker["work_seconds"].first() / 60,
            "points": by_worker["points"].first(),
            "hit": by_worker["hit"].first() + 1,  # as people count them
            "assignments": by_worker.size(),
        }
    )
    facts["of"] = submissions.groupby("worker", observed=True).size().reindex(facts.index)
    return findings_of(facts)


def too_few_points(frames: Frames, rule: TooFewPoints) -> list[Finding]:
    """Leaves out single assignments; other assignments of the same worker stay."""
    found = frames.submissions[frames.submissions["points"] < rule.points]
    columns = ("worker", "submission", "points", "checkpoints", "hit")
    return [
        Finding(worker, {"points": plain(points), "checkpoints": plain(most), "hit": plain(hit) + 1}, int(submission))
        for worker, submission, points, most, hit in zip(*(found[name] for name in columns), strict=True)
    ]
