"""Brings the study on Prolific to what our rows say: created once, published once, its places, paused or not.

In: absolute numbers. Out: notes, with the study's id and codes. Guaranteed: a study is published only if no other one
on Prolific claims to be the same; a call whose answer was lost is settled by reading; what is not sure goes no further,
with one line that says why.
"""

from collections.abc import Mapping
from typing import Any

from evalplatform.wording import count_of
from hits.crowds.fees import Fees
from hits.crowds.prolific.option_checks import filter_problems
from hits.crowds.prolific.prolific_calls import ProlificCalls
from hits.crowds.prolific.prolific_client import ProlificRefused, Sleep
from hits.crowds.prolific.quoting import quote
from hits.crowds.prolific.study_fields import (
    codes_there,
    mark_of,
    marks_of,
    names_our_study,
    new_codes,
    study_fields,
    study_url,
)
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Offering

STUDY, WORKSPACE, CURRENCY, STOP_GROUP, CODE = "study", "workspace", "currency", "stop_group", "code "
BLOCKLIST = "participant_group_blocklist"
LOOKS = 6  # at most, until a change that Prolific makes in its own time has happened
PASSING = ("PUBLISHING", "PROCESSING", "SCHEDULED")
OVER = ("AWAITING REVIEW", "COMPLETED")


class StudySettler:
    def __init__(self, calls: ProlificCalls, fees: Fees, sleep: Sleep, look_seconds: float) -> None:
        self._calls = calls
        self._client = calls.client
        self._fees = fees
        self._sleep = sleep
        self._look_seconds = look_seconds

    def settle(
        self, offering: Offering, notes: Mapping[str, str], address: str, places: int, is_on_offer: bool
    ) -> dict[str, str]:
        self._check_workspace(notes)
        try:
            study = self._find(offering, notes, address)
        except MarketRefused as refused:
            if refused.is_gone and not is_on_offer:
                return dict(notes)  # it was deleted there, and nothing of it is wanted
            raise
        if study is None:
            if not is_on_offer:
                return dict(notes)
            study = self._create(offering, address, places)
        noted = {**notes, WORKSPACE: self._calls.workspace, STUDY: str(study["id"])}
        noted[CURRENCY] = self._calls.currency
        noted |= {f"{CODE}{outcome}": code for outcome, code in codes_there(study).items()}
        if study["status"] == "UNPUBLISHED" and is_on_offer:
            study = self._publish(offering, study, places)
        self._bring_to(study, places, is_on_offer)
        return noted

    def _check_workspace(self, notes: Mapping[str, str]) -> None:
        if notes.get(WORKSPACE, self._calls.workspace) != self._calls.workspace:
            raise MarketRefused(
                "workspace",
                "The study was published from another workspace than the one whose token this server has.",
                is_about_account=True,
            )

    # --- Found or created ---

    def _find(self, offering: Offering, notes: Mapping[str, str], address: str) -> dict[str, Any] | None:
        """Return our study: the one that we noted, or else the one that has our mark."""
        if known := notes.get(STUDY):
            try:
                return dict(self._client.get(f"studies/{known}/"))
            except ProlificRefused as refused:
                if not refused.is_gone:
                    raise
                raise MarketRefused(
                    "deleted",
                    f"The study {known} was deleted on Prolific. What participants did stays here; to ask more of "
                    "them, copy the study and publish the copy.",
                    is_about_account=True,
                    is_gone=True,
                ) from refused
        ours = self._with_our_mark(offering)
        if not ours:
            return None
        # A run that was killed may have left drafts, which cost nothing. One that is published goes first.
        ours.sort(key=lambda one: (one["status"] == "UNPUBLISHED", one.get("date_created") or "", one["id"]))
        found = dict(self._client.get(f"studies/{ours[0]['id']}/"))
        there = str(found.get("external_study_url", ""))
        if offering.environment == "production" and there != study_url(address, offering.environment):
            raise MarketRefused(
                "elsewhere",
                f"Prolific has this study already, and sends its participants to {there.split('?')[0]}: another server "
                "has published it, and this one changes nothing there.",
                is_about_account=True,
            )
        return found

    def _with_our_mark(self, offering: Offering) -> list[dict[str, Any]]:
        claim, marks = names_our_study(offering), set(marks_of(offering))
        rows = self._client.pages(f"projects/{self._calls.project}/studies/")
        claiming = [one for one in rows if str(one.get("internal_name", "")).startswith(claim)]
        strangers = [one["id"] for one in claiming if one["internal_name"] not in marks]
        if strangers:
            raise MarketRefused(
                "unsigned",
                f"The study {strangers[0]} on Prolific names this study without our signature: somebody else made it, "
                "or SECRET_KEY has changed. List the earlier key in SECRET_KEY_FALLBACKS, or delete that study.",
                is_about_account=True,
            )
        return claiming

    def _create(self, offering: Offering, address: str, places: int) -> dict[str, Any]:
        """Create a draft, which costs nothing. If its answer is lost, the next run finds it by our mark."""
        listed = self._calls.filters()
        if problems := list(filter_problems(offering.study.parsed_design, listed)):
            raise MarketRefused("filters", " ".join(problems), is_about_account=True)
        block_filters = []
        if BLOCKLIST in listed:
            group = self._calls.ensure_group(stop_group_name(offering))
            block_filters = [{"filter_id": BLOCKLIST, "selected_values": [group]}]
        codes, project = new_codes(offering), self._calls.project
        fields = study_fields(offering, address, places, codes, project, block_filters)
        return dict(self._client.once("POST", "studies/", fields))

    # --- Published ---

    def _publish(self, offering: Offering, study: dict[str, Any], places: int) -> dict[str, Any]:
        self._check_alone(offering, study)
        if study["total_available_places"] != places:
            self._client.repeat("PATCH", f"studies/{study['id']}/", {"total_available_places": places})
        self._check_cost(offering, places)
        try:
            self._client.once("POST", f"studies/{study['id']}/transition/", {"action": "PUBLISH"})
        except MarketRefused:
            # What a second PUBLISH does is documented nowhere. So the status decides, never the refusal's words.
            again = self._look(study)
            if again["status"] == "UNPUBLISHED":
                raise
            return again
        return self._look(study)

    def _check_alone(self, offering: Offering, study: Mapping[str, Any]) -> None:
        """Raise unless the list shows our draft, and nothing else of this study that is published.

        A list may lag behind. But when it shows our draft, it shows whatever is older.
        """
        for look in range(LOOKS):
            listed = {str(one["id"]): one["status"] for one in self._with_our_mark(offering)}
            others = [key for key, status in listed.items() if key != study["id"] and status != "UNPUBLISHED"]
            if others:
                raise MarketRefused(
                    "twice",
                    f"Prolific has this study already as {others[0]}; publishing {study['id']} too would pay for it "
                    f"twice. Delete the draft {study['id']} there, and run this again.",
                    is_about_account=True,
                )
            if study["id"] in listed:
                return
            if look + 1 < LOOKS:
                self._sleep(self._look_seconds)
        raise MarketUnavailable("Prolific does not list the new draft yet. It is published by the next run.")

    def _check_cost(self, offering: Offering, places: int) -> None:
        """Compare with Prolific's own calculator: the budget must hold for what Prolific really takes."""
        found = quote(self._calls, self._fees, offering.study.parsed_design, places)
        if found.problem:
            raise MarketRefused("cost", found.problem, is_about_account=True)

    # --- Places, paused or not ---

    def _bring_to(self, study: dict[str, Any], places: int, is_on_offer: bool) -> None:
        for look in range(LOOKS):
            status = study["status"]
            if status in PASSING:
                self._sleep(self._look_seconds)
                study = self._look(study)
                continue
            needs_places = is_on_offer and status != "UNPUBLISHED" and study["total_available_places"] < places
            if needs_places and look + 1 < LOOKS:
                # The absolute number, so that asking again changes nothing. Prolific never takes places away.
                body = {"total_available_places": places}
                self._client.repeat("PATCH", f"studies/{study['id']}/", body)
            elif status == "ACTIVE" and not is_on_offer:
                self._change(study, "PAUSE")
            elif status == "PAUSED" and is_on_offer and "START" in study.get("study_actions", ["START"]):
                self._change(study, "START")
            else:
                _refuse_if_over(study, is_on_offer)
                return
            study = self._look(study)

    def _change(self, study: Mapping[str, Any], action: str) -> None:
        """Pause or start. If another run did it a moment ago, the status says so, and the refusal means nothing."""
        try:
            self._client.repeat("POST", f"studies/{study['id']}/transition/", {"action": action})
        except MarketRefused:
            if self._look(study)["status"] == study["status"]:
                raise

    def _look(self, study: Mapping[str, Any]) -> dict[str, Any]:
        return dict(self._client.get(f"studies/{study['id']}/"))


def _refuse_if_over(study: Mapping[str, Any], is_on_offer: bool) -> None:
    """Raise if nobody comes any more though the study is meant to be on offer: it was stopped there, which is final.

    A study whose places are all taken is over, too, but as it should be.
    """
    status, places = study["status"], study["total_available_places"]
    is_over = status in OVER or (status == "PAUSED" and "START" not in study.get("study_actions", ["START"]))
    free = places - study.get("places_taken", places)
    if is_on_offer and is_over and free > 0:
        raise MarketRefused(
            "over",
            f"Somebody has stopped the study {study['id']} on Prolific for good, with {count_of(free, 'place')} free: "
            "nobody comes any more. Take its HITs off the market here, too (stop_study); to ask more people, copy the "
            "study and publish the copy.",
            is_about_account=True,
        )


def stop_group_name(offering: Offering) -> str:
    """Return the name of the group of people who get no more of this study."""
    return f"{mark_of(offering)[:70]} enough"
