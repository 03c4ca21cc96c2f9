"""Lists the environments of MTurk (local, sandbox, production), and what pages say about each.

The setting MTURK_ENVIRONMENT says how far this server may go.
"""

from hits.crowds.abilities import Environment

MTURK = "mturk"
LOCAL, SANDBOX, PRODUCTION = "local", "sandbox", "production"

# Read on pages, in commands, and behind errors of Amazon's addresses. docs/marketplace.md has the source.
END_OF_MTURK = (
    "Amazon announced the end of Mechanical Turk for 30 September 2026, so nobody may answer there. A link "
    "(--crowd link), Prolific (--crowd prolific) or the marketplace that runs here reach people."
)

ENVIRONMENTS = (
    Environment(
        name=LOCAL,
        label="Local",
        described="a marketplace that runs on the researchers' own machine",
        note="The marketplace that runs here: you are the workers, and no money moves.",
        publish_words="to the local marketplace",
        runs_here=True,
    ),
    Environment(
        name=SANDBOX,
        label="Sandbox",
        described="Amazon Mechanical Turk's sandbox",
        note=f"Amazon's sandbox: no real workers, no real money. {END_OF_MTURK}",
        publish_words="to the sandbox",
    ),
    Environment(
        name=PRODUCTION,
        label="Production",
        described="Amazon Mechanical Turk",
        note=END_OF_MTURK,
        publish_words="for real money",
        is_real_money=True,
        has_real_raters=True,
    ),
)
