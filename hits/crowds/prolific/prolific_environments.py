"""Names the two environments of Prolific: the one that runs here, and the real one."""

from hits.crowds.abilities import Environment

PROLIFIC = "prolific"
LOCAL, PRODUCTION = "local", "production"

ENVIRONMENTS = (
    Environment(
        name=LOCAL,
        label="Prolific (local)",
        described="a copy of Prolific that runs on the researchers' own machine",
        note="A Prolific that runs here, to rehearse with: you are the participants, and no money moves.",
        publish_words="to the local Prolific",
        runs_here=True,
    ),
    Environment(
        name=PRODUCTION,
        label="Prolific",
        described="Prolific",
        note="Rehearse on the local Prolific first. Prolific's money is locked when the study is published.",
        publish_words="on Prolific, for real money",
        is_real_money=True,
        has_real_raters=True,
    ),
)
