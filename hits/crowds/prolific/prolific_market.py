"""Prolific as a `BulkMarket`: one study there for an offering, whose places are our open assignments."""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from django.db import connection

from hits.crowds.bulk_paying import BonusListThere, BonusToPay
from hits.crowds.fees import Fees
from hits.crowds.hits_of_rows import hits_of_rows
from hits.crowds.market import HitToOffer, MarketAssignment, MarketBonus, MarketHit, Quote
from hits.crowds.noting import crowd_notes, note_of_crowd
from hits.crowds.prolific.asking_notes import AskingNotes
from hits.crowds.prolific.money_lock import money_lock
from hits.crowds.prolific.option_checks import filter_problems
from hits.crowds.prolific.prolific_calls import MOST_APPROVALS, ProlificCalls
from hits.crowds.prolific.prolific_client import ProlificRefused, Sleep
from hits.crowds.prolific.prolific_money import hundredths_from
from hits.crowds.prolific.quoting import quote
from hits.crowds.prolific.settling_study import CODE, STOP_GROUP, STUDY, WORKSPACE, StudySettler, stop_group_name
from hits.crowds.prolific.study_fields import NO_CONSENT, STUDY_FULL
from hits.crowds.prolific.submissions_there import (
    FREED,
    HANDED_IN,
    RETURNED,
    assignment_from,
    code_of,
    is_decided,
    participant_of,
    status_word,
    time_of,
)
from hits.errors import MarketRefused
from hits.models import Assignment, Offering, Publication, Submission
from hits.models.design import StudyDesign

T = TypeVar("T")

LOOKS_AT_APPROVALS = 5
NEVER = "1970-01-01T00:00:00+00:00"


class ProlificMarket:
    def __init__(
        self, offering: Offering, calls: ProlificCalls, fees: Fees, look_seconds: float, sleep: Sleep = time.sleep
    ) -> None:
        self._offering = offering
        self._calls = calls
        self._fees = fees
        self._sleep = sleep
        self._look_seconds = look_seconds
        self._settler = StudySettler(calls, fees, sleep, look_seconds)
        self._listed: dict[str, dict[str, Any]] | None = None  # submissions, when the HITs were listed last
        self._strangers: dict[str, str] | None = None  # to which HITs we gave those of which we have no row

    def balance_cents(self) -> int:
        return self._calls.wallet().available.count

    def quote(self, design: StudyDesign, assignments: int) -> Quote:
        return quote(self._calls, self._fees, design, assignments)

    # --- The study as a whole ---

    def prepare(self, offering: Offering, notes: Mapping[str, str]) -> Mapping[str, str]:
        """Check what can be checked without creating anything: the workspace, its currency, and the filters."""
        wallet = self._calls.wallet()
        if problems := list(filter_problems(offering.study.parsed_design, self._calls.filters())):
            raise MarketRefused("filters", " ".join(problems), is_about_account=True)
        return {WORKSPACE: wallet.workspace}

    def offer_hit(self, offering: Offering, notes: Mapping[str, str], new: HitToOffer) -> str:
        return f"hit-{new.number}-{new.round}"

    def settle_offering(
        self, offering: Offering, notes: Mapping[str, str], address: str, places: int, is_on_offer: bool
    ) -> Mapping[str, str]:
        with money_lock():
            # Of two runs, the second must see what the first has noted.
            known = crowd_notes(offering)
            wanted = places - self._count_freed()
            noted = self._settler.settle(offering, known, address, wanted, is_on_offer)
            return note_of_crowd(offering, noted) if noted != known else known

    def _count_freed(self) -> int:
        """Count the rejected and returned work whose place Prolific has freed by itself: it is in our number still."""
        return Submission.objects.filter(assignment__offering=self._offering).unpaid().count()

    def expire_hit(self, crowd_hit_id: str) -> None:
        """Only the whole study is on offer."""

    def extend_hit(self, crowd_hit_id: str, expires_at: object) -> None:
        """Only the whole study is on offer."""

    def add_assignments(self, crowd_hit_id: str, count: int, token: str) -> None:
        """Only the whole study has places."""

    # --- Work ---

    def list_hits(self) -> Iterator[MarketHit]:
        """Read the study's submissions, and yield our HITs with them; nothing if the study was deleted there."""
        try:
            self._listed = self._read_submissions()
        except ProlificRefused as refused:
            if not (refused.is_gone and self._is_study_gone()):
                raise
            return
        yield from self._hits()

    def get_hit(self, crowd_hit_id: str) -> MarketHit:
        for hit in self.list_hits():
            if hit.crowd_hit_id == crowd_hit_id:
                return hit
        raise MarketRefused("gone", "The study was deleted on Prolific.", is_gone=True)

    def list_assignments(self, crowd_hit_id: str) -> Iterator[MarketAssignment]:
        hit_of = in_any_thread(self._hit_of_submissions)
        return (assignment_from(self._submissions[key], hit) for key, hit in hit_of.items() if hit == crowd_hit_id)

    def get_assignment(self, crowd_assignment_id: str) -> MarketAssignment:
        return assignment_from(self._calls.submission(crowd_assignment_id), "")

    def _hits(self) -> list[MarketHit]:
        numbers = list(self._offering.study.hits.values_list("number", flat=True))
        known, self._strangers = self._attribute(), {}
        handed_in = {key: is_decided(self._submissions[key]) for key in known}
        hits = list(hits_of_rows(self._offering, marks_of_hits(numbers), handed_in))
        for key in sorted(handed_in):
            if not known[key] and hits:
                self._strangers[key] = _add_to_emptiest(hits, handed_in[key])
        return hits

    def _hit_of_submissions(self) -> dict[str, str]:
        """Return the HIT of each submission that was handed in."""
        if self._strangers is None:
            self._hits()
        found = self._attribute()
        return {key: hit or (self._strangers or {}).get(key, "") for key, hit in found.items()}

    def _attribute(self) -> dict[str, str]:
        """Return the HIT of each submission that was handed in, as our rows say; "" if they say nothing.

        Whoever went back without work has not handed in. Without a row of ours (somebody entered the code without our
        page, or the database was restored), any HIT will do: the work came without answers, and a person decides.
        """
        current = _current_hits(self._offering)
        ours = Assignment.objects.filter(offering=self._offering)
        columns = ("crowd_assignment_id", "hit", "submission__crowd_hit_id")
        known = {key: stored or current.get(hit, "") for key, hit, stored in ours.values_list(*columns)}
        collected = set(ours.exclude(submission=None).values_list("crowd_assignment_id", flat=True))
        away = {code for name, code in crowd_notes(self._offering).items() if name in AWAY}
        return {
            key: known.get(key, "")
            for key, one in self._submissions.items()
            if (status_word(one) in HANDED_IN and (key in collected or code_of(one) not in away))
            or (status_word(one) == RETURNED and key in collected)
        }

    @property
    def _submissions(self) -> dict[str, dict[str, Any]]:
        if self._listed is None:
            self._listed = self._read_submissions()
        return self._listed

    def _read_submissions(self) -> dict[str, dict[str, Any]]:
        study = self._study_id()
        return {str(one["id"]): one for one in self._calls.submissions(study)} if study else {}

    def _study_id(self) -> str:
        return in_any_thread(lambda: crowd_notes(self._offering)).get(STUDY, "")

    def _is_study_gone(self) -> bool:
        try:
            self._calls.client.get(f"studies/{self._study_id()}/")
        except ProlificRefused as refused:
            return refused.is_gone
        return False

    def list_returned(self) -> Iterator[tuple[str, str]]:
        for key, one in self._submissions.items():
            if status_word(one) in FREED:
                yield key, participant_of(one)

    # --- Decisions ---

    def approve(self, crowd_assignment_id: str, feedback: str = "") -> None:
        self._calls.approve(crowd_assignment_id)

    def approve_all(self, assignment_ids: Sequence[str]) -> set[str]:
        """Ask in bulk, and look for some seconds whether it has happened. Who is not approved then is by the next
        sync."""
        waiting, approved = set(assignment_ids), set[str]()
        for start in range(0, len(assignment_ids), MOST_APPROVALS):
            self._calls.approve_in_bulk(assignment_ids[start : start + MOST_APPROVALS])
        for look in range(LOOKS_AT_APPROVALS):
            statuses = {key: status_word(one) for key, one in self._read_submissions().items()}
            approved |= {key for key in waiting if HANDED_IN.get(statuses.get(key, "")) == Submission.Status.APPROVED}
            waiting -= approved
            if not waiting:
                break
            if look + 1 < LOOKS_AT_APPROVALS:
                self._sleep(self._look_seconds)
        return approved

    def reject(self, crowd_assignment_id: str, reason: str, category: str = "") -> None:
        self._calls.reject(crowd_assignment_id, category, reason)

    def request_return(self, assignment_id: str, reason: str) -> None:
        self._calls.request_return(assignment_id, [reason])

    # --- Bonuses ---

    def paying_alone(self) -> AbstractContextManager[None]:
        return money_lock()

    def send_bonus(self, worker_id: str, assignment_id: str, cents: int, reason: str, token: str) -> None:
        raise MarketRefused("bonus", "On Prolific, bonuses are paid by lists.")

    def list_bonuses_of_hit(self, crowd_hit_id: str) -> Iterator[MarketBonus]:
        return self.list_bonuses_of(
            [key for key, hit in in_any_thread(self._hit_of_submissions).items() if hit == crowd_hit_id]
        )

    def list_bonuses_of(self, assignment_ids: Collection[str]) -> Iterator[MarketBonus]:
        """Yield the bonuses. Prolific stores no times of them, so any will do, as long as it is always the same."""
        granted_at = time_of(NEVER)
        assert granted_at is not None
        for key in assignment_ids:
            try:
                found = self._calls.submission(key)
            except ProlificRefused as refused:
                if refused.is_gone:
                    continue
                raise
            at = time_of(found.get("completed_at")) or time_of(found.get("started_at")) or granted_at
            for cents in found.get("bonus_payments") or []:
                amount = hundredths_from(cents, self._calls.currency)
                yield MarketBonus(participant_of(found), key, amount.count, "", at)

    @cached_property
    def _asking(self) -> AskingNotes:
        return AskingNotes(self._calls, self._offering, self._read_submissions().values())

    def asked_before(self, bonuses: Sequence[BonusToPay]) -> list[BonusToPay]:
        self.__dict__.pop("_asking", None)  # what is noted must be read now
        return self._asking.noted(bonuses)

    def note_asking(self, bonuses: Sequence[BonusToPay]) -> None:
        self._asking.note(bonuses)

    def withdraw_asking(self, bonuses: Sequence[BonusToPay]) -> None:
        self.__dict__.pop("_asking", None)
        self._asking.withdraw(bonuses)

    def create_bonus_list(self, bonuses: Sequence[BonusToPay]) -> BonusListThere:
        made = self._calls.create_bonus_list(self._study_id(), bonuses)
        available = self._calls.wallet().available
        if made.total_cents > available.count:
            raise MarketRefused(
                "funds",
                f"These bonuses cost {hundredths_from(made.total_cents, available.currency)} with fee and VAT, and "
                f"{available} is free on Prolific.",
                is_about_account=True,
            )
        return made

    def pay_bonus_list(self, list_id: str) -> None:
        self._calls.pay_bonus_list(list_id)

    # --- Who gets no more of the study: our group, which the study's filter blocks ---

    def keep_out(self, offering: Offering, worker_id: str) -> None:
        self._calls.add_members(self._stop_group(offering), [worker_id])

    def let_in(self, offering: Offering, worker_id: str, reason: str) -> None:
        self._calls.remove_members(self._stop_group(offering), [worker_id])

    def _stop_group(self, offering: Offering) -> str:
        if known := crowd_notes(offering).get(STOP_GROUP):
            return known
        return note_of_crowd(offering, {STOP_GROUP: self._calls.ensure_group(stop_group_name(offering))})[STOP_GROUP]

    def block_worker(self, worker_id: str, reason: str) -> None:
        raise MarketRefused("block", "Prolific's API has no way to block a participant everywhere.")

    def unblock_worker(self, worker_id: str, reason: str) -> None:
        raise MarketRefused("block", "Prolific's API has no way to block a participant everywhere.")


AWAY = {f"{CODE}{NO_CONSENT}", f"{CODE}{STUDY_FULL}"}


def _current_hits(offering: Offering) -> dict[int, str]:
    current = Publication.objects.filter(offering=offering, retired_at=None).confirmed()
    return dict(current.values_list("hit", "crowd_hit_id"))


def marks_of_hits(numbers: Iterable[int]) -> dict[str, int]:
    return {f"task {number}": number for number in numbers}


def _add_to_emptiest(hits: list[MarketHit], is_decided: bool) -> str:
    """Count a submission in the HIT with the most free places, and return that HIT's id."""
    index = max(range(len(hits)), key=lambda number: (hits[number].available_count, -number))
    hit = hits[index]
    is_room = hit.available_count > 0
    hits[index] = replace(
        hit,
        max_assignments=hit.max_assignments + (not is_room),
        available_count=hit.available_count - is_room,
        completed_count=hit.completed_count + is_decided,
    )
    return hit.crowd_hit_id


def in_any_thread(read: Callable[[], T]) -> T:
    """Let rooms call this from their threads: close the thread's own connection afterwards."""
    try:
        return read()
    finally:
        if threading.current_thread() is not threading.main_thread() and not connection.in_atomic_block:
            connection.close()
