"""Notes at Prolific itself for whom payment of a bonus was asked, so that a restored database can't ask again.

Prolific pays a list of bonuses again whenever it is asked, shows a bonus only after minutes, and lists no orders. A
database that was restored to an earlier state would know nothing of an order, and see no bonus. So before an order we
put its participants into groups of the workspace, and an order is only given for who is in none.

A participant may do several HITs. Their n-th submission belongs to the n-th group, by the time at which it was begun:
that order never changes, also if a list does not show the latest ones yet.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hits.crowds.bulk_paying import BonusToPay
from hits.crowds.prolific.prolific_calls import ProlificCalls
from hits.crowds.prolific.study_fields import mark_of, names_our_study
from hits.crowds.prolific.submissions_there import participant_of
from hits.errors import MarketRefused
from hits.models import Offering

GroupKey = tuple[str, int]  # a kind of payment, and which of the participant's submissions it is for


class AskingNotes:
    def __init__(self, calls: ProlificCalls, offering: Offering, rows: Iterable[Mapping[str, Any]]) -> None:
        self._calls = calls
        self._start = mark_of(offering)[:70]
        self._claim = names_our_study(offering)
        self._ranks = _ranks_of(rows)
        self._groups = [(str(one["name"]), str(one["id"])) for one in calls.groups()]

    def noted(self, bonuses: Sequence[BonusToPay]) -> list[BonusToPay]:
        found = []
        for key, ones in self._by_group(bonuses).items():
            members = {one for group in self._ids(key) for one in self._calls.members(group)}
            found += [one for one in ones if one.worker_id in members]
        return found

    def note(self, bonuses: Sequence[BonusToPay]) -> None:
        for key, ones in self._by_group(bonuses).items():
            group = self._calls.ensure_group(self._name(key))
            self._calls.add_members(group, [one.worker_id for one in ones])

    def withdraw(self, bonuses: Sequence[BonusToPay]) -> None:
        for key, ones in self._by_group(bonuses).items():
            for group in self._ids(key):
                self._calls.remove_members(group, [one.worker_id for one in ones])

    def _by_group(self, bonuses: Sequence[BonusToPay]) -> dict[GroupKey, list[BonusToPay]]:
        groups: dict[GroupKey, list[BonusToPay]] = {}
        for one in bonuses:
            rank = self._ranks.get(one.assignment_id)
            if rank is None:
                raise MarketRefused("submission", f"Prolific does not list the submission {one.assignment_id} yet.")
            groups.setdefault((one.kind, rank), []).append(one)
        return groups

    def _name(self, key: GroupKey) -> str:
        return f"{self._start}{_end_of_name(key)}"

    def _ids(self, key: GroupKey) -> list[str]:
        """Return the groups of this study for the key, whichever SECRET_KEY their names were signed with: a note that
        was written before the key changed still says that somebody was paid."""
        end = _end_of_name(key)
        return [group for name, group in self._groups if name.startswith(self._claim) and name.endswith(end)]


def _end_of_name(key: GroupKey) -> str:
    kind, rank = key
    return f" {kind} asked {rank}"


def _ranks_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the 1-based rank of each submission among those of its participant."""
    begun = sorted((str(one["started_at"]), str(one["id"]), participant_of(one)) for one in rows if one["started_at"])
    counts: dict[str, int] = {}
    ranks = {}
    for _, submission, participant in begun:
        counts[participant] = counts.get(participant, 0) + 1
        ranks[submission] = counts[participant]
    return ranks
