"""Notes which session gets the credit for an assignment, and says which have any.

In: a link with ids in its address, and what was handed in by it. Out: Credit rows. Guaranteed: an assignment is to one
session's credit, whoever began it or opens it later. Without such ids, whoever comes is who they say.
"""

from hits.models import Assignment, Credit, OpenLink, Outcome


def note_credit(link: OpenLink, assignment: Assignment, session: str) -> str:
    """Write down, once, in which session the assignment was handed in, and return that session."""
    if not link.worker_parameter:
        return session
    credit, _ = Credit.objects.get_or_create(assignment=assignment, defaults={"link": link, "session": session})
    return credit.session


def outcome_for(link: OpenLink, worker_id: str, session: str) -> Outcome:
    """Return how somebody leaves for whom nothing is left, and who has finished something: only the session in which
    that was handed in is one that has finished."""
    if not link.worker_parameter:
        return Outcome.FINISHED
    theirs = Credit.objects.filter(link=link, assignment__crowd_worker_id=worker_id, session=session)
    return Outcome.FINISHED if theirs.exists() else Outcome.STUDY_FULL
