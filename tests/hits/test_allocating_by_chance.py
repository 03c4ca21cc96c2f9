"""Whatever people do, in any order: who gets what is what a slow model says, which counts everything each time."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hits.budgeting import recount_places
from hits.crowds import CROWDS
from hits.models import Answer, Assignment, HitPlaces, Replacement
from hits.serving import Refusal
from tests.hits.arrivals import LIMIT, START, Study, offer, place_of, places, refusal_of
from tests.hits.toy_study_crowd import WholeCrowd

HITS, PLACES, MOST_HITS = 3, 2, 2
SECOND = timedelta(seconds=1)

Action = tuple[str, int]


@dataclass
class Work:
    """One visit, as the model knows it."""

    worker: int
    hit: int
    held_at: datetime
    place: str = "held"
    submitted_at: datetime | None = None
    has_begun: bool = False


@dataclass
class SlowModel:
    """The rules, in as few words as possible."""

    places: list[int] = field(default_factory=lambda: [PLACES] * HITS)
    works: list[Work] = field(default_factory=list)

    def taken(self, hit: int) -> int:
        return sum(one.hit == hit and one.place in ("held", "filled") for one in self.works)

    def free(self, one: Work) -> None:
        one.place = "freed"
        self.settle(one.hit)

    def settle(self, hit: int) -> None:
        late = [one for one in self.works if one.hit == hit and one.place == "extra"]
        for one in sorted(late, key=lambda one: one.submitted_at or START):
            if self.taken(hit) < self.places[hit]:
                one.place = "filled"

    def end_leases(self, now: datetime) -> None:
        for one in self.works:
            if one.place == "held" and now > one.held_at + LIMIT:
                self.free(one)

    def arrive(self, worker: int, now: datetime) -> str:
        theirs = [one for one in self.works if one.worker == worker]
        if sum(one.place != "freed" for one in theirs) >= MOST_HITS:
            return Refusal.LIMIT_REACHED
        before = [one.place for one in self.works]
        self.end_leases(now)
        known = {one.hit for one in theirs}
        free = [hit for hit in range(HITS) if hit not in known and self.taken(hit) < self.places[hit]]
        if not free:
            for one, place in zip(self.works, before, strict=True):
                one.place = place  # who gets nothing changes nothing
            return Refusal.NOTHING_FREE
        self.works.append(Work(worker, min(free, key=lambda hit: (self.taken(hit), hit)), now))
        return ""

    def come_back(self, one: Work, now: datetime) -> str:
        if one.submitted_at or (one.place == "held" and now <= one.held_at + LIMIT):
            return ""
        if one.place == "held" or self.taken(one.hit) < self.places[one.hit]:
            one.place, one.held_at = "held", now
        elif not one.has_begun:
            return Refusal.NOTHING_FREE
        return ""

    def hand_in(self, one: Work, now: datetime) -> str:
        others = sum(other is not one and other.worker == one.worker and other.place != "freed" for other in self.works)
        if one.place == "freed" and others >= MOST_HITS:
            return Refusal.LIMIT_REACHED
        one.submitted_at = now
        has_room = one.place == "held" or self.taken(one.hit) < self.places[one.hit]
        one.place = "filled" if has_room else "extra"
        return ""


ACTIONS = st.one_of(
    st.tuples(st.just("arrive"), st.integers(0, 8)),
    st.tuples(st.just("arrive"), st.integers(0, 8)),
    st.tuples(st.sampled_from(["begin", "hand in", "come back", "give back"]), st.integers(0, 30)),
    st.tuples(st.just("wait"), st.integers(1, 31)),
    st.tuples(st.sampled_from(["sync", "replace"]), st.integers(0, HITS - 1)),
)


@pytest.fixture
def study(example_corpus: None, monkeypatch: pytest.MonkeyPatch) -> Study:
    crowd = WholeCrowd()
    monkeypatch.setitem(CROWDS, crowd.name, crowd)
    return Study(offer(PLACES, MOST_HITS, HITS))


@given(actions=st.lists(ACTIONS, min_size=20, max_size=60))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_who_gets_what_is_what_the_slow_model_says(study: Study, actions: list[Action]) -> None:
    _begin_anew(study)
    model, now = SlowModel(), START
    given_out: list[Assignment] = []

    for what, number in actions:
        now += timedelta(minutes=number) if what == "wait" else SECOND
        if what == "arrive":
            expected = model.arrive(number, now)
            assert refusal_of(_arrive, study, number, now, given_out) == expected
        elif what == "sync":
            model.end_leases(now)
            study.end_leases(now)
        elif what == "replace":
            _replace(study, model, number)
        elif what != "wait" and given_out:
            _act(study, model, what, number % len(given_out), given_out, now)
        assert [one.hit.number for one in given_out] == [one.hit for one in model.works]
        assert [place_of(one) for one in given_out] == [one.place for one in model.works]
        assert places(study.offering) == [(model.taken(hit), model.places[hit]) for hit in range(HITS)]
    assert recount_places(study.offering) == 0


def _begin_anew(study: Study) -> None:
    for model in (Answer, Assignment, Replacement, HitPlaces):
        model._default_manager.all().delete()
    study.visits.clear()
    recount_places(study.offering)


def _arrive(study: Study, worker: int, now: datetime, given_out: list[Assignment]) -> None:
    given_out.append(study.arrive(f"p{worker}", now, f"s{worker}-{now:%H%M%S}"))


def _replace(study: Study, model: SlowModel, hit: int) -> None:
    model.places[hit] += 1
    model.settle(hit)
    of_study: dict[str, Any] = {"hit": study.offering.study.hits.get(number=hit), "offering": study.offering}
    noted = {"added": 1, "reopened": 0, "intended_at": START, "confirmed_at": START}
    Replacement.objects.create(**of_study, places=model.places[hit], **noted)
    recount_places(study.offering)


def _act(study: Study, model: SlowModel, what: str, number: int, given_out: list[Assignment], now: datetime) -> None:
    ours, theirs = given_out[number], model.works[number]
    if what == "come back":
        assert refusal_of(study.come_back, ours, now) == model.come_back(theirs, now)
    elif what == "hand in" and theirs.submitted_at is None:
        assert refusal_of(study.hand_in, ours, now) == model.hand_in(theirs, now)
    elif what == "give back":
        assert study.give_back(ours) == (theirs.place == "held")
        if theirs.place == "held":
            model.free(theirs)
    elif what == "begin" and theirs.submitted_at is None and not theirs.has_begun:
        theirs.has_begun = True
        study.begin(ours, now)
