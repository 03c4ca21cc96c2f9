"""Results of a study that was offered in several places: what may be put together, and what is said of it."""

import pytest

from evalplatform.errors import EvalPlatformError
from hits.analysing import (
    Results,
    analyse_study,
    describe_left_out,
    find_pool,
    measure_progress,
    offerings_of,
    pools_of,
    report_as_text,
    report_of,
)
from hits.models import Offering, Pool, Publication, Study, Submission, offering_for
from hits.screening import screen
from hits.stats import Estimate, Undefined
from tests.hits.crowd import now
from tests.hits.offered_twice import HERE, MAIN, PEOPLE, PILOT, offer_twice, rate_on


@pytest.fixture
def twice_offered(demo_study: Study) -> Study:
    offer_twice(demo_study)
    return demo_study


@pytest.fixture
def pool(twice_offered: Study) -> Pool:
    return find_pool(twice_offered, PEOPLE)


def test_only_work_of_the_same_origin_is_put_together(twice_offered: Study, pool: Pool) -> None:
    assert [one.marketplace for one in offerings_of(pool)] == [PILOT, MAIN]
    assert [one.origin for one in pools_of(twice_offered)] == [PEOPLE]
    assert describe_left_out(pool) == (
        "Not counted here is local (rehearsed): work of different origin is never put together."
    )
    with pytest.raises(EvalPlatformError, match="1 offering whose work is all rehearsed: there is nothing to put"):
        find_pool(twice_offered, Submission.Origin.REHEARSAL)


def test_an_offering_with_one_rehearsed_submission_leaves_the_pool_of_people(twice_offered: Study, pool: Pool) -> None:
    [first, *_] = Submission.objects.filter(assignment__offering=offering_for(twice_offered, PILOT))
    Submission.objects.filter(pk=first.pk).update(origin=Submission.Origin.REHEARSAL)

    assert [one.marketplace for one in offerings_of(pool)] == [MAIN]
    assert [one.marketplace for one in offerings_of(find_pool(twice_offered, "rehearsal"))] == [HERE, PILOT]


def test_a_pool_counts_all_ratings_of_its_offerings_and_nothing_else(twice_offered: Study, pool: Pool) -> None:
    alone = [analyse_study(offering_for(twice_offered, name)).main for name in (PILOT, MAIN)]

    results = analyse_study(pool)

    assert results.origin.people == 6 + 24 == results.origin.total
    assert results.main.size.ratings == sum(one.size.ratings for one in alone)
    assert results.main.size.dialogs == alone[1].size.dialogs
    assert [one.assignments for one in results.offerings] == [6, 24]
    [split] = results.main.by_offering
    rows = {(row.level, row.generator): row for row in split.rows}
    for name, one in zip((PILOT, MAIN), alone, strict=True):
        for row in (row for row in one.table if row.dataset is None):
            assert not isinstance(row.shares, Undefined)
            found = rows[name, row.generator or ""]
            assert (found.ratings, found.dialogs, found.workers) == (row.ratings, row.dialogs, row.workers)
            assert isinstance(found.share, Estimate)
            assert (found.share.value, found.share.interval) == (row.shares[0].share, row.shares[0].interval)


def test_one_id_on_two_crowds_is_two_workers_and_on_one_crowd_one(twice_offered: Study, pool: Pool) -> None:
    assert analyse_study(pool).main.size.workers == 3 + 4

    rate_on(twice_offered, "link.trial", workers=3, hits=1, origin=PEOPLE)

    assert analyse_study(pool).main.size.workers == 3 + 4
    assert len(analyse_study(pool).offerings) == 3


def test_offerings_are_compared_on_the_dialogs_that_both_have_rated(pool: Pool) -> None:
    results = analyse_study(pool)

    dialogs = {one.dialogs for one in results.main.offering_differences}
    assert dialogs == {20}  # of two HITs
    worst = next(one for one in results.main.offering_differences if one.generator == "parrot")
    assert (worst.first, worst.second) == (PILOT, MAIN)
    assert isinstance(worst.difference, Estimate)
    assert worst.difference.value > 0


def test_a_report_of_a_pool_says_what_is_together_and_that_it_was_not_planned(pool: Pool) -> None:
    report = report_of(analyse_study(pool))

    assert "2 offerings are put together here (6 assignments from link.live and 24 assignments" in report.answer
    assert report.answer.startswith("All 2 offerings together, which is exploratory: ")
    assert "To tell" not in report.answer
    told = "\n".join(report_as_text(report))
    for words in (
        "What each offering brought",
        "by offering, exploratory",
        "link.live minus prolific.production",
        "can't be known",
    ):
        assert words in told


def test_an_offering_alone_has_no_word_of_a_pool(twice_offered: Study) -> None:
    results = analyse_study(offering_for(twice_offered, MAIN))

    assert (results.offerings, results.main.by_offering, results.main.offering_differences) == ((), (), ())
    assert "offering" not in "\n".join(report_as_text(report_of(results)))


def test_a_pool_is_interim_while_an_offering_has_hits_on_offer(twice_offered: Study, pool: Pool) -> None:
    assert measure_progress(pool).is_complete

    Publication.objects.filter(offering=offering_for(twice_offered, PILOT)).update(closed_at=None)

    found = measure_progress(pool)
    assert not found.is_complete
    assert found.reason.endswith("by 2 offerings together, and link.live may bring more")
    assert _intervals(analyse_study(pool)) == 0
    Publication.objects.all().update(closed_at=now())
    assert _intervals(analyse_study(pool)) > 0


def _intervals(results: Results) -> int:
    """Count the differences between offerings that have an interval."""
    found = [one.difference for one in results.main.offering_differences if isinstance(one.difference, Estimate)]
    assert found
    return sum(not isinstance(one.interval, Undefined) for one in found)


def test_each_offering_is_left_out_by_its_own_screening(twice_offered: Study, pool: Pool) -> None:
    careless = offering_for(twice_offered, PILOT)
    rate_on(twice_offered, "link.trial", workers=3, hits=3, origin=PEOPLE, judge=lambda card, rng: "good")
    before = analyse_study(pool).main.size.workers

    for offering in (careless, *_others(twice_offered)):
        screen(offering, now())

    parts = {one.offering: one for one in analyse_study(pool).offerings}
    assert parts["link.trial"].kept_assignments == 0 < parts["link.trial"].assignments
    assert parts[PILOT].kept_assignments == parts[PILOT].assignments
    assert analyse_study(pool).main.size.workers == before


def _others(study: Study) -> list[Offering]:
    return [offering_for(study, name) for name in (MAIN, "link.trial")]


def test_sequences_decide_in_a_pool_of_a_study_that_stops_by_itself(twice_offered: Study) -> None:
    analysis = {**twice_offered.design.get("analysis", {}), "stop_when_decided": True}
    Study.objects.update(design={**twice_offered.design, "analysis": analysis})
    study = Study.objects.get()

    results = analyse_study(find_pool(study, PEOPLE))

    assert (results.progress.is_by_sequence, results.progress.has_verdicts) == (True, False)
    assert _intervals(results) == 0
    assert all(not one.letters for table in results.main.comparisons for one in table.letters)
