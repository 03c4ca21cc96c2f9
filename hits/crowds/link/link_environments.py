"""Names the two environments of the crowd: a rehearsal, and real raters. No money moves in either."""

from hits.crowds.abilities import Environment

LINK = "link"
TRIAL, LIVE = "trial", "live"
SIMULATED = "simulated"  # the prefix of made-up workers' ids, which no link may have
INVITED = "invited"  # the prefix of the ids of people who were invited by name
NO_OPEN_LINKS = (SIMULATED, INVITED)


def id_of_simulated(worker_id: str) -> str:
    """Return the id under which a simulated crowd's worker works by a link."""
    return f"{SIMULATED}_{worker_id}"


ENVIRONMENTS = (
    Environment(
        name=TRIAL,
        label="Link (trial)",
        described="the trial of an open link",
        note="An open link for you and your colleagues to try: no money moves, and nothing counts as raters' work.",
        publish_words="as a link to try out",
        runs_here=True,
    ),
    Environment(
        name=LIVE,
        label="Link (live)",
        described="an open link",
        note="Whoever has the link may take part. This server pays nobody: it lists what is due.",
        publish_words="as an open link",
        recruited="by an open link, which the researchers passed on",
        has_real_raters=True,
    ),
)
