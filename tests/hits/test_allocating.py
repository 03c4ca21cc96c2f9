"""Who comes without a HIT gets a place in one; a lease holds it; who is late is taken all the same."""

import io
import os
import signal
import threading
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.backends.postgresql.base import DatabaseWrapper as PostgresqlWrapper
from django.test import Client

from hits.budgeting import open_places, places_in_all, recount_places
from hits.crowds import CROWDS, open_crowd
from hits.models import Assignment, HitPlaces, Offering, Publication, Replacement, Submission
from hits.monitoring import count_progress
from hits.publishing import block, resume_study, stop_study
from hits.serving import Refusal, WorkRefused
from hits.syncing import sync
from tests.hits.arrivals import LIMIT, START, Study, offer, place_of, places, refusal_of
from tests.hits.toy_study_crowd import WholeCrowd

SECOND = timedelta(seconds=1)
OVER = START + LIMIT + SECOND


@pytest.fixture(autouse=True)
def crowd(monkeypatch: pytest.MonkeyPatch) -> WholeCrowd:
    whole = WholeCrowd()
    monkeypatch.setitem(CROWDS, whole.name, whole)
    return whole


@pytest.fixture
def study(example_corpus: None, researcher: User) -> Study:
    """Six HITs with two places each."""
    study = Study(offer(assignments=2))
    study.offering.study.owner = researcher
    study.offering.study.save(update_fields=["owner"])
    return study


def fill(study: Study, now: datetime = START) -> list[Assignment]:
    return [study.arrive(f"p{number}", now) for number in range(12)]


def is_right(offering: Offering) -> bool:
    """Whether counting everything again finds nothing that was wrong."""
    return recount_places(offering) == 0


# --- Who gets which HIT ----------------------------------------------------------------------------------------------


def test_each_gets_the_least_filled_hit_until_all_places_are_taken(study: Study) -> None:
    given = fill(study)
    one_more = refusal_of(study.arrive, "late")

    assert [one.hit.number for one in given] == [0, 1, 2, 3, 4, 5] * 2
    assert one_more == Refusal.NOTHING_FREE
    assert places(study.offering) == [(2, 2)] * 6
    assert not Assignment.objects.filter(crowd_worker_id="late").exists()
    assert is_right(study.offering)


def test_a_person_gets_other_dialogs_each_time_and_a_hit_that_was_given_back_never_again(study: Study) -> None:
    first = study.arrive("p1", session="s0")
    study.give_back(first)

    later = [study.arrive("p1", session=f"s{number}").hit.number for number in range(1, 6)]

    assert first.hit.number == 0
    assert later == [1, 2, 3, 4, 5]
    assert refusal_of(study.arrive, "p1", START, "s6") == Refusal.NOTHING_FREE
    assert places(study.offering) == [(0, 2)] + [(1, 2)] * 5


def test_nobody_gets_more_than_the_study_allows_whatever_ids_they_come_with(example_corpus: None) -> None:
    study = Study(offer(assignments=2, max_hits_per_worker=2))
    first = study.arrive("p1", session="s1")
    study.arrive("p1", session="s2")

    beyond = refusal_of(study.arrive, "p1", START, "s3")
    study.give_back(first)

    assert beyond == Refusal.LIMIT_REACHED
    assert study.arrive("p1", session="s3").hit.number == 2


def test_who_is_kept_out_gets_nothing(study: Study) -> None:
    block(study.offering, "p1", "soft block", "Enough.", None, START)

    assert refusal_of(study.arrive, "p1") == Refusal.STOPPED
    assert places(study.offering) == [(0, 2)] * 6


def test_two_offerings_of_a_study_fill_their_own_places(study: Study, crowd: WholeCrowd) -> None:
    study.arrive("p1")
    other = Offering.objects.create(study=study.offering.study, crowd="whole", environment="elsewhere")
    for one in Publication.objects.filter(offering=study.offering):
        Publication.objects.create(
            hit=one.hit, offering=other, crowd_hit_id=one.crowd_hit_id, intended_at=START, published_at=START
        )
    recount_places(other)

    assert places(other) == [(0, 2)] * 6
    assert places(study.offering)[0] == (1, 2)


# --- Leases ----------------------------------------------------------------------------------------------------------


def test_a_place_is_free_again_when_its_lease_is_over_and_not_a_second_before(study: Study) -> None:
    first, *_ = fill(study)
    Assignment.objects.exclude(pk=first.pk).update(held_at=START + LIMIT)  # the others have time

    early = refusal_of(study.arrive, "p20", START + LIMIT)
    later = study.arrive("p20", OVER)

    assert early == Refusal.NOTHING_FREE
    assert later.hit == first.hit
    assert place_of(first) == "freed"
    assert is_right(study.offering)


def test_more_leases_than_one_arrival_ends_are_ended_until_one_is_of_use(study: Study) -> None:
    """The last to begin has the only HIT whose dialogs the visitor does not know."""
    others = [study.arrive(f"q{number}") for number in range(12)]
    last = others[-1]
    for one in others:
        if one.hit_id != last.hit_id:
            Assignment.objects.filter(pk=one.pk).update(held_at=START - timedelta(hours=1), crowd_worker_id="me")

    assert study.arrive("me", OVER, "my-session").hit == last.hit


def test_who_returns_a_hit_leaves_the_place_to_the_next_once(study: Study) -> None:
    first, *_ = fill(study)

    assert [study.give_back(first), study.give_back(first)] == [True, False]
    assert study.arrive("p20").hit == first.hit
    assert refusal_of(study.arrive, "p21") == Refusal.NOTHING_FREE
    assert is_right(study.offering)


def test_who_comes_and_is_no_longer_a_holder_by_the_crowds_word_frees_the_place(
    study: Study, crowd: WholeCrowd
) -> None:
    first = study.arrive("p1")
    crowd.panel.study = "another study"  # so that the panel denies it

    assert refusal_of(study.come_back, first, START) == Refusal.NOT_HELD
    assert place_of(first) == "freed"


def test_an_assignment_that_the_crowd_gives_to_somebody_else_takes_one_place(study: Study) -> None:
    first = study.arrive("p1", session="shared")
    second = study.arrive("p2", session="shared")

    assert (place_of(first), place_of(second)) == ("freed", "held")
    assert sum(taken for taken, _ in places(study.offering)) == 1


# --- Whoever is late -------------------------------------------------------------------------------------------------


def test_late_work_has_its_place_if_nobody_else_took_it(study: Study) -> None:
    waited_for, ended = study.arrive("p1"), study.arrive("p2")
    study.hand_in(waited_for, OVER)
    study.end_leases(OVER)

    study.hand_in(ended, OVER)

    assert (place_of(waited_for), place_of(ended)) == ("filled", "filled")
    assert places(study.offering)[:2] == [(1, 2), (1, 2)]
    assert is_right(study.offering)


@pytest.mark.django_db(transaction=True)
def test_late_work_is_extra_where_the_place_was_given_to_another_and_costs_nobody_theirs(
    transactional_db: None, study: Study, crowd: WholeCrowd, researcher_client: Client, tmp_path: Path
) -> None:
    late, *_ = fill(study)
    Assignment.objects.exclude(pk=late.pk).update(held_at=START + LIMIT)
    instead = study.arrive("p20", OVER)
    crowd.panel.begin("p0", late.crowd_assignment_id)

    told = study.hand_in(late, OVER)
    crowd.panel.enter_code(late.crowd_assignment_id, told["code"])
    sync(study.offering, open_crowd(study.offering), lambda: OVER)
    study.hand_in(instead, OVER + SECOND)

    assert (place_of(late), place_of(instead)) == ("extra", "filled")
    assert Submission.objects.get(assignment=late).problem == ""
    assert places(study.offering) == [(2, 2)] * 6
    assert (places_in_all(study.offering), crowd.panel.places) == (12, 12)
    assert not Replacement.objects.exists()
    assert sum(one.count for one in open_places(study.offering)) == 12  # the budget still holds them
    assert is_right(study.offering)

    # And researchers read it, on the monitor, in the API's counts and in the paper's paragraph.
    name = study.offering.study.name
    call_command("export_study", name, "--crowd", "whole", "--out", str(tmp_path / "bundle"), stdout=io.StringIO())
    monitor = researcher_client.get(f"/studies/{name}/monitor/?market=whole.panel").content.decode()
    assert count_progress(study.offering).extra == 1
    assert "1 extra, by workers who were late" in " ".join(monitor.split())
    assert "1 assignment more than planned is among them" in (tmp_path / "bundle" / "methods.md").read_text()
    assert "1 extra, by participants who were late" in (tmp_path / "bundle" / "participants.md").read_text()


def test_a_place_that_becomes_free_goes_to_late_work_before_a_new_worker(study: Study) -> None:
    late, *_ = fill(study)
    Assignment.objects.exclude(pk=late.pk).update(held_at=START + LIMIT)
    instead = study.arrive("p20", OVER)
    study.hand_in(late, OVER)

    study.give_back(instead)

    assert (place_of(late), place_of(instead)) == ("filled", "freed")
    assert refusal_of(study.arrive, "p21", OVER) == Refusal.NOTHING_FREE
    assert is_right(study.offering)


def test_who_comes_back_late_goes_on_if_they_have_begun(study: Study) -> None:
    begun, looked, *_ = fill(study)
    study.begin(begun, START)
    everyone = Assignment.objects.exclude(pk__in=[begun.pk, looked.pk])
    everyone.update(held_at=START + LIMIT)
    for number in (20, 21):
        study.arrive(f"p{number}", OVER)

    again = study.come_back(begun, OVER)

    assert again.pk == begun.pk
    assert refusal_of(study.come_back, looked, OVER) == Refusal.NOTHING_FREE
    study.hand_in(begun, OVER)
    assert place_of(begun) == "extra"


def test_who_comes_back_late_gets_the_place_for_as_long_again_if_it_is_free(study: Study) -> None:
    looked = study.arrive("p1")
    study.end_leases(OVER)

    study.come_back(looked, OVER)

    assert place_of(looked) == "held"
    assert study.end_leases(OVER + LIMIT) == 0
    assert study.end_leases(OVER + LIMIT + SECOND) == 1


# --- What changes the places -----------------------------------------------------------------------------------------


def test_a_stopped_study_gives_out_nothing_and_takes_what_people_hold(study: Study) -> None:
    first, market = study.arrive("p1"), open_crowd(study.offering)
    stop_study(study.offering, market, lambda: START)

    stopped = refusal_of(study.arrive, "p2")
    study.hand_in(first, OVER)
    resume_study(study.offering, market, lambda: OVER)

    assert stopped == Refusal.NOTHING_FREE
    assert place_of(first) == "filled"
    assert study.arrive("p2", OVER).hit.number == 1


def test_a_stop_holds_although_the_crowd_cant_be_reached(study: Study, crowd: WholeCrowd) -> None:
    crowd.panel.is_away = True

    stop_study(study.offering, open_crowd(study.offering), lambda: START)

    assert refusal_of(study.arrive, "p1") == Refusal.NOTHING_FREE


def test_a_replacement_is_one_more_place_and_late_work_gets_it_first(study: Study) -> None:
    late, *_ = fill(study)
    Assignment.objects.exclude(pk=late.pk).update(held_at=START + LIMIT)
    study.arrive("p20", OVER)
    study.hand_in(late, OVER)
    for hit in (late.hit, study.offering.study.hits.get(number=1)):
        Replacement.objects.create(
            hit=hit, offering=study.offering, places=3, added=1, reopened=0, intended_at=OVER, confirmed_at=OVER
        )

    recount_places(study.offering)

    assert place_of(late) == "filled"
    assert places(study.offering)[:2] == [(3, 3), (2, 3)]
    assert study.arrive("p21", OVER).hit.number == 1


def test_counting_again_repairs_whatever_the_rows_say(study: Study) -> None:
    """As after a database was restored to an earlier state, or somebody changed rows by hand."""
    given = fill(study)
    study.hand_in(given[0], START)
    HitPlaces.objects.filter(number=0).delete()
    HitPlaces.objects.filter(number=1).update(taken=0)
    HitPlaces.objects.filter(number=2).update(places=9, is_on_offer=False)
    Assignment.objects.filter(pk=given[0].pk).update(place="")

    repaired = recount_places(study.offering)

    assert repaired == 3
    assert places(study.offering) == [(2, 2)] * 6
    assert place_of(given[0]) == "filled"
    assert is_right(study.offering)


def test_work_that_only_the_crowd_knows_of_is_extra_if_all_places_are_taken(study: Study) -> None:
    given = fill(study)
    lost = Assignment.objects.get(pk=given[0].pk)
    lost.pk, lost.crowd_worker_id, lost.crowd_assignment_id = None, "from-before", "s-before"
    lost.submitted_at, lost.place = START, ""
    lost.save()

    recount_places(study.offering)

    assert place_of(lost) == "extra"
    assert places(study.offering) == [(2, 2)] * 6


# --- At once, and killed ---------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_two_hundred_who_arrive_at_once_overfill_nothing(example_corpus: None, transactional_db: None) -> None:
    study = Study(offer(assignments=9))  # 54 places
    outcomes: Counter[str] = Counter()
    ready = threading.Barrier(20)

    def arrive(first: int) -> None:
        ready.wait()
        for number in range(first, 200, 20):
            try:
                # Every fourth is somebody who came before, in another window, at the same moment.
                worker = f"p{number - number % 4 if number % 4 == 3 else number}"
                study.arrive(worker, START, f"s{number}")
                outcomes["given"] += 1
            except WorkRefused as refused:
                outcomes[refused.refusal] += 1
        connections.close_all()

    threads = [threading.Thread(target=arrive, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    given = Assignment.objects.values_list("crowd_worker_id", "hit")
    assert outcomes == {"given": 54, Refusal.NOTHING_FREE: 146}
    assert places(study.offering) == [(9, 9)] * 6
    assert len(set(given)) == len(given) == 54  # nobody has a HIT twice
    assert is_right(study.offering)


@pytest.mark.django_db(transaction=True)
def test_a_process_that_is_killed_while_it_gives_a_place_takes_none(
    example_corpus: None, transactional_db: None
) -> None:
    study = Study(offer(assignments=2))
    connections.close_all()
    if isinstance(ours := connections[DEFAULT_DB_ALIAS], PostgresqlWrapper):
        ours.close_pool()  # a child must open connections of its own

    child = os.fork()
    if child == 0:
        with transaction.atomic():  # so that the kill comes after the act and before it is there for others
            study.arrive("killed")
            os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(child, 0)

    assert os.WTERMSIG(status) == signal.SIGKILL
    assert not Assignment.objects.exists()
    assert places(study.offering) == [(0, 2)] * 6
    assert study.arrive("p1").hit.number == 0


@pytest.mark.django_db(transaction=True)
def test_a_place_whose_worker_never_comes_back_is_free_when_the_lease_is_over(
    example_corpus: None, transactional_db: None
) -> None:
    """Whatever process gave it: nothing but the rows is needed to free it."""
    study = Study(offer(assignments=2))
    fill(study)

    sync(study.offering, open_crowd(study.offering), lambda: OVER)

    assert places(study.offering) == [(0, 2)] * 6
    assert set(Assignment.objects.values_list("place", flat=True)) == {"freed"}
