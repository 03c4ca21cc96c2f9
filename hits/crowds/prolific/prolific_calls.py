"""The calls to Prolific that we make, in our own types: which workspace pays, bonuses, approvals, groups, filters.

Each says whether it may be repeated. Two must never be sent twice without a look in between: creating a study, and
paying a list of bonuses.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings

from hits.crowds.bulk_paying import BonusListThere, BonusToPay
from hits.crowds.prolific.prolific_client import ProlificClient, ProlificRefused
from hits.crowds.prolific.prolific_money import Hundredths, MoneyMixedUp, hundredths_from, sum_of
from hits.errors import MarketRefused

MOST_APPROVALS = 1000


@dataclass(frozen=True)
class Wallet:
    """The workspace that pays: its id, its currency, and what is free in it."""

    workspace: str
    currency: str
    available: Hundredths


class ProlificCalls:
    def __init__(self, client: ProlificClient, currency: str, environment: str) -> None:
        self.client = client
        self.currency = currency  # of the study
        self._is_ours_to_choose = environment == "production"

    # --- Where the money is ---

    @cached_property
    def workspace(self) -> str:
        wanted = settings.PROLIFIC_WORKSPACE if self._is_ours_to_choose else ""
        return self._choose("workspaces/", wanted, "PROLIFIC_WORKSPACE")

    @cached_property
    def project(self) -> str:
        wanted = settings.PROLIFIC_PROJECT if self._is_ours_to_choose else ""
        return self._choose(f"workspaces/{self.workspace}/projects/", wanted, "PROLIFIC_PROJECT")

    def wallet(self) -> Wallet:
        """Return what the workspace has. Raises if its currency is not the study's: nothing is ever converted."""
        found = self._balance()
        currency = str(found.get("currency_code", ""))
        if currency != self.currency:
            raise MarketRefused(
                "currency",
                f"The workspace pays in {currency or 'a currency that it does not name'}, and the study in "
                f"{self.currency}. Copy the study and set pay.currency = {currency!r}, or use another workspace.",
                is_about_account=True,
            )
        available = found["available_balance"]
        return Wallet(self.workspace, currency, hundredths_from(max(0, available), currency))

    def _balance(self) -> dict[str, Any]:
        try:
            return dict(self.client.get(f"workspaces/{self.workspace}/balance/"))
        except ProlificRefused as refused:
            if not refused.is_gone:
                raise
            raise MarketRefused(
                "balance",
                "Prolific's API does not tell the balance of this workspace, without which nothing is published or "
                "paid. Ask Prolific's support for it.",
                is_about_account=True,
            ) from refused

    def _choose(self, path: str, wanted: str, setting: str) -> str:
        """Return the one that the setting names, or the only one there is."""
        titles = {str(one["id"]): str(one.get("title", "")) for one in self.client.pages(path)}
        if wanted in titles:
            return wanted
        if len(titles) == 1 and not wanted:
            return next(iter(titles))
        known = ", ".join(f"{key} ({title})" for key, title in titles.items()) or "none"
        raise MarketRefused("account", f"Set {setting} to one of these: {known}.", is_about_account=True)

    # --- Cost ---

    def cost_of(self, reward: Hundredths, places: int) -> Hundredths:
        """Return what Prolific's own calculator says that a study costs, with fee and VAT."""
        body = {"reward": reward.on_wire(), "total_available_places": places}
        answer = self.client.repeat("POST", "study-cost-calculator/", body)
        return hundredths_from(answer["total_cost"], self.currency)

    def least_hourly(self) -> Hundredths:
        found = self.client.get("reward-recommendations/", currency_code=self.currency)
        return hundredths_from(found["min_reward_per_hour"], self.currency)

    # --- Submissions ---

    def submissions(self, study_id: str) -> Iterator[dict[str, Any]]:
        return self.client.pages("submissions/", study=study_id)

    def submission(self, submission_id: str) -> dict[str, Any]:
        return dict(self.client.get(f"submissions/{submission_id}/"))

    def approve(self, submission_id: str) -> None:
        """Approve one. Prolific documents that asking again changes nothing."""
        self.client.repeat("POST", f"submissions/{submission_id}/transition/", {"action": "APPROVE"})

    def approve_in_bulk(self, submission_ids: Sequence[str]) -> None:
        """Ask for approvals, which happen a little later."""
        self.client.repeat("POST", "submissions/bulk-approve/", {"submission_ids": list(submission_ids)})

    def reject(self, submission_id: str, category: str, message: str) -> None:
        body = {"action": "REJECT", "rejection_category": category, "message": message}
        self.client.repeat("POST", f"submissions/{submission_id}/transition/", body)

    def request_return(self, submission_id: str, reasons: Sequence[str]) -> None:
        body = {"request_return_reasons": list(reasons)}
        self.client.repeat("POST", f"submissions/{submission_id}/request-return/", body)

    # --- Bonuses: a list first, which moves no money; then one order to pay it, which is never repeated ---

    def create_bonus_list(self, study_id: str, bonuses: Sequence[BonusToPay]) -> BonusListThere:
        """Create a list, and check that Prolific understood its amounts as we mean them."""
        amounts = [Hundredths(one.cents, self.currency) for one in bonuses]
        ids = [one.assignment_id for one in bonuses]
        if len(set(ids)) < len(ids) or not all(re.fullmatch(r"[A-Za-z0-9]+", one) for one in ids):
            raise MoneyMixedUp("A list of bonuses names a submission twice, or one whose id is not plain.")
        lines = [f"{key},{one.in_whole_currency.on_wire()}" for key, one in zip(ids, amounts, strict=True)]
        body = {"study_id": study_id, "csv_bonuses": "\n".join(lines)}
        answer = self.client.repeat("POST", "submissions/bonus-payments/", body)
        meant, understood = sum_of(amounts, self.currency), hundredths_from(answer["amount"], self.currency)
        if meant != understood:
            raise MoneyMixedUp(f"Prolific read a list of bonuses over {meant} as {understood}. Nothing was paid.")
        total = hundredths_from(answer.get("total_amount", answer["amount"]), self.currency)
        return BonusListThere(str(answer["id"]), total.count)

    def pay_bonus_list(self, list_id: str) -> None:
        """Order the payment of a list. Prolific documents that the same list twice is paid twice."""
        self.client.once("POST", f"bulk-bonus-payments/{list_id}/pay/")

    # --- Groups and filters ---

    def ensure_group(self, name: str) -> str:
        """Return the id of the workspace's group of this name, the first if there are several; create it if needed."""
        return self.find_group(name) or str(
            self.client.repeat("POST", "participant-groups/", {"name": name, "workspace_id": self.workspace})["id"]
        )

    def find_group(self, name: str) -> str:
        found = [one["id"] for one in self.groups() if one["name"] == name]
        return str(min(found)) if found else ""

    def groups(self) -> Iterator[dict[str, Any]]:
        return self.client.pages("participant-groups/", workspace_id=self.workspace)

    def members(self, group_id: str) -> set[str]:
        """Return who is in the group. Its list is not paged, as far as we know; if it is, nobody is paid by it."""
        path = f"participant-groups/{group_id}/participants/"
        rows = self.client.get(path)
        if ((rows.get("_links") or {}).get("next") or {}).get("href"):
            raise MarketRefused("group", "Prolific cuts the list of a group's members, which we can't read yet.")
        return {str(one["participant_id"]) for one in rows["results"]}

    def add_members(self, group_id: str, participants: Sequence[str]) -> None:
        body = {"participant_ids": sorted(set(participants))}
        self.client.repeat("POST", f"participant-groups/{group_id}/participants/", body)

    def remove_members(self, group_id: str, participants: Sequence[str]) -> None:
        body = {"participant_ids": sorted(set(participants))}
        try:
            self.client.repeat("DELETE", f"participant-groups/{group_id}/participants/", body)
        except ProlificRefused as refused:
            if not refused.is_gone:
                raise

    def filters(self) -> dict[str, dict[str, Any]]:
        rows = self.client.get("filters/")
        return {str(one["filter_id"]): one for one in rows["results"]}
