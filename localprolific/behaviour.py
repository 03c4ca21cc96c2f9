"""Say how this Prolific behaves where the facts are not sure, so that a client can be tried with each way.

Each setting names in its comment how sure we are of the default: A by Prolific's documentation or its own command-line
tool, B where two independent clients agree, C by one client or a third party, D where we inferred or chose. What is
sure (A) can't be changed, except for times and sizes that documentation leaves open.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from localprolific.models import BehaviourRow


class Behaviour(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    # The signed link
    link_audience: Literal["origin", "domain", "url"] = "origin"  # D: the docs say domain, two clients differ
    are_links_signed: bool = True  # C: where a study asks for it; not every workspace has it
    # Ids
    are_ids_hex: bool = True  # C: 24 hexadecimal digits; otherwise other letters, too
    # Studies
    publishing_seconds: float = 2  # D: through PUBLISHING (A), for how long is open
    second_publish: Literal["refused", "ignored"] = "refused"  # D: undocumented; "ignored" answers with the study
    are_more_places_reopening: bool = True  # C: more places open a full study again
    is_processing_shown: bool = False  # C: a brief, undocumented PROCESSING instead of PUBLISHING
    blocklist_filter: str = "participant_group_blocklist"  # D: by analogy with participant_group_allowlist
    # Submissions
    lapsed_reservation: Literal["RETURNED", "TIMED-OUT"] = "RETURNED"  # D
    arrival_seconds: float = 0  # C: an approval right after the redirect may come too early; so long it does
    can_finish_after_time_out: bool = True  # D: a code that is entered late still makes AWAITING REVIEW
    can_approve_rejected: bool = False  # D
    bulk_approval_seconds: float = 2  # asynchronous (A), for how long is open
    most_bulk_approvals: int = 1000  # A, roughly
    # Lists
    most_rows_per_page: int = 100  # D: 100 works (A)
    are_newest_first: bool = True  # D: rows that come between two pages then move all others down
    are_pages_short: bool = False  # C: a page with fewer rows than asked for may have a next one (Dallinger #9601)
    # Money
    bonus_payment_seconds: float = 60  # asynchronous, "in the following minutes" (A)
    most_bonus_rows: int = 200  # C
    are_bonus_duplicates_taken: bool = True  # D: two lines for one person pay both
    need_bonuses_approval: bool = False  # C: Dallinger suspects that a bonus before approval fails
    are_bonus_fees_fractions: bool = True  # A by the documented example, which has fees of 283.34 pence
    wallet_busy_seconds: float = 0  # A that money calls meet 429 while the wallet is busy; how long after one: D
    is_balance_told: bool = True  # A, but one page of the documentation says that only the website shows it
    # Errors
    flat_error_paths: tuple[str, ...] = ("hooks/", "participant-groups/")  # A that both forms exist; where: D
    # Webhooks
    hook_timestamp: Literal["seconds", "iso"] = "seconds"  # D: in which form the time is that goes into the signature
    is_hook_proof_answered: bool = True  # D: the answer to a subscription has X-Hook-Secret
    are_unconfirmed_hooks_silent: bool = True  # A


USUAL = Behaviour()


def behaviour() -> Behaviour:
    changes = BehaviourRow.objects.values_list("changes", flat=True).first()
    return Behaviour(**changes) if changes else USUAL


def set_behaviour(**changes: Any) -> Behaviour:
    """Behave as usual, but for these changes, in every process that serves this database."""
    checked = Behaviour(**changes)
    stored = checked.model_dump(mode="json", exclude_defaults=True)
    BehaviourRow.objects.update_or_create(pk=1, defaults={"changes": stored})
    return checked
