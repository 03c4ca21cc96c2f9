"""A fourth vote where three all differ: asked for by itself, once, within the budget, of somebody new."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection
from django.test import Client

from hits.analysing import analyse_study, report_of
from hits.budgeting import budget_of, open_places, set_cap, spending
from hits.crowds import CROWDS, open_crowd
from hits.crowds.link.taking_part import count_left, left_for_each, part_of
from hits.crowds.mturk.client import MTurkMarket
from hits.deciding import are_fourth_votes_due, ask_fourth_votes, describe_fourth_votes
from hits.deciding.asking_votes import AskedVotes, due_fourth_votes, save_intents
from hits.deciding.counted_votes import vote_state
from hits.exporting import check_bundle, export_bundle
from hits.models import Assignment, Hit, HitItem, Offering, Publication, SharedBlock
from hits.publishing import plan_publishing, resume_study, stop_study
from hits.serving import Refusal
from hits.syncing import sync
from localturk import working
from localturk.clock import Clock
from localturk.models import TurkHit, WorkerAccount
from simulated_crowd.channels import InProcess
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import simulate
from simulated_crowd.truths import Truth
from tests.hits.arrivals import CROWD, START, Study, refusal_of
from tests.hits.crowd import people
from tests.hits.toy_study_crowd import WholeCrowd
from tests.hits.voted import MODELS, differing_on, items_of, offered, vote
from tests.hits.working import Worker
from tests.pages import html_of


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def offering(example_corpus: None, researcher: User, market: MTurkMarket) -> Offering:
    return offered(market)


def added_items(offering: Offering) -> list[HitItem]:
    return list(
        HitItem.objects.filter(hit__added_for=offering).select_related("copy_of__hit").order_by("hit", "position")
    )


def test_items_whose_three_votes_differ_are_asked_for_once_in_hits_like_the_others(
    offering: Offering, market: MTurkMarket
) -> None:
    some = items_of(offering)[:40:3]  # fourteen of forty-two, in all six HITs
    vote(offering, differing_on(some))

    asked = ask_fourth_votes(offering, market, now)
    again = ask_fourth_votes(offering, market, now)

    assert (asked.items, asked.hits, asked.published, again.hits) == (14, 2, 2, 0)
    added = added_items(offering)
    asking = [one.copy_of for one in added if one.fourth_vote_in_id == offering.pk]
    assert sorted(one.pk for one in asking if one) == sorted(one.pk for one in some)
    assert Counter(one.hit_id for one in added).most_common() == [(added[0].hit_id, 10), (added[-1].hit_id, 10)]
    assert Counter(one.is_checkpoint for one in added) == {False: 14, True: 6}
    assert set(offering.study.hits.filter(added_for=offering).values_list("assignments", flat=True)) == {1}
    assert Publication.objects.filter(hit__added_for=offering).confirmed().count() == 2
    assert TurkHit.objects.count() == 6 + 2
    assert plan_publishing(offering).hits == []


def test_what_would_not_fill_a_hit_waits_until_no_other_vote_is_to_come(
    offering: Offering, market: MTurkMarket
) -> None:
    items, hits = items_of(offering), list(offering.study.hits.all())
    vote(offering, differing_on(items[:9]), hits[:5])

    early = ask_fourth_votes(offering, market, now)
    vote(offering, differing_on([]), hits[5:])
    late = ask_fourth_votes(offering, market, now)

    assert (early.items, early.hits) == (7, 1)
    assert (late.items, late.hits) == (2, 1)
    assert not are_fourth_votes_due(offering)


def test_the_fourth_vote_settles_the_verdict_and_counts_nowhere_else(offering: Offering, market: MTurkMarket) -> None:
    some = items_of(offering)[:7]
    vote(offering, differing_on(some))
    before, *_ = analyse_study(offering).criteria[0].votes
    ask_fourth_votes(offering, market, now)
    vote(offering, lambda item, number: "loss", offering.study.hits.filter(added_for=offering), 1, "FOURTH")

    after, *_ = analyse_study(offering).criteria[0].votes

    assert (before.differing, before.split, before.unanimous) == (7, 7, 35)
    assert (after.differing, after.split, after.unanimous) == (7, 0, 35)
    assert (after.verdicts.wins, after.verdicts.losses, after.verdicts.ties) == (35, 7, 0)  # type: ignore[union-attr]
    assert after.votes == before.votes
    assert analyse_study(offering).criteria[0].size.ratings == before.votes.count
    state = vote_state(offering)
    assert len(state.returned) == len(state.asked) == len(state.differing) == 7
    assert ask_fourth_votes(offering, market, now).hits == 0


def test_nobody_who_has_seen_an_item_gets_its_fourth_vote_nor_the_other_way_round(
    offering: Offering, market: MTurkMarket
) -> None:
    vote(offering, differing_on(items_of(offering)[:2]))  # both of the first HIT
    ask_fourth_votes(offering, market, now)
    [added] = offering.study.hits.filter(added_for=offering)
    first, *_, other = offering.study.hits.frozen()
    voter, stranger, *_ = people()
    for account, hit in ((voter, first), (stranger, other)):
        theirs = Assignment.objects.filter(crowd_worker_id=f"W{hit.number}-1")
        theirs.update(crowd_worker_id=account.worker_id, confirmed_at=now())

    answers = [visit(added, one) for one in (voter, stranger)]

    assert answers == [403, 200]
    assert visit(first, stranger) == 403
    assert set(SharedBlock.objects.values_list("block", "other")) == {(0, added.block), (added.block, 0)}


def visit(hit: Hit, account: WorkerAccount) -> int:
    """Accept the HIT on the marketplace, open its page, and give it back; return how our page answers."""
    crowd_hit_id = Publication.objects.get(hit=hit).crowd_hit_id
    accepted = working.accept(account, TurkHit.objects.get(hit_id=crowd_hit_id), Clock().now())
    visited = Worker(hit, account.worker_id, accepted.assignment_id).visit(hitId=crowd_hit_id)
    working.return_assignment(accepted.assignment_id, account, Clock().now())
    return int(visited.status_code)


def test_what_the_budget_does_not_allow_is_said_and_asked_for_once_it_does(
    offering: Offering, market: MTurkMarket, researcher: User
) -> None:
    vote(offering, differing_on(items_of(offering)[:19]))
    spent = budget_of(offering).committed_cents
    set_cap(offering, spent + 61, researcher, now())  # a HIT costs at most 60 cents: 40, 10, and a fifth as fees

    asked = ask_fourth_votes(offering, market, now)
    is_due = are_fourth_votes_due(offering)
    set_cap(offering, None, researcher, now())

    assert (asked.items, asked.hits, asked.beyond_budget) == (7, 1, 12)
    assert not is_due
    assert are_fourth_votes_due(offering)
    assert ask_fourth_votes(offering, market, now).items == 12
    assert len(vote_state(offering).asked) == 19


def test_a_study_that_is_off_the_market_asks_for_nothing_until_it_is_back(
    offering: Offering, market: MTurkMarket
) -> None:
    vote(offering, differing_on(items_of(offering)[:7]))
    stop_study(offering, market, now)

    assert ask_fourth_votes(offering, market, now).hits == 0
    resume_study(offering, market, now)
    assert ask_fourth_votes(offering, market, now).hits == 1


def test_where_our_page_gives_out_the_hits_only_strangers_get_them(
    example_corpus: None, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CROWDS, "whole", WholeCrowd())
    offering = offered(None, "whole.panel", crowd=CROWD, pay={"approval": "by hand"})
    vote(offering, differing_on(items_of(offering)[:2]))  # of the first HIT

    ask_fourth_votes(offering, open_crowd(offering), now)
    left = left_for_each(offering, {"W0-0": 1, "W5-0": 1})
    study = Study(offering)
    refused = refusal_of(study.arrive, "W0-0", START, "again")
    given = study.arrive("W5-0", START, "again")
    beyond = refusal_of(study.arrive, "W5-1", START, "later")

    assert left == {"W0-0": 0, "W5-0": 1}
    assert refused == beyond == Refusal.NOTHING_FREE
    assert given.hit.added_for == offering
    assert left_for_each(offering, {"W5-1": 1}) == {"W5-1": 0}
    assert count_left(offering, "W0-0", part_of(offering, "W0-0", START), START) == 0


def test_the_database_itself_refuses_a_fifth_vote(offering: Offering, market: MTurkMarket) -> None:
    vote(offering, differing_on(items_of(offering)[:7]))
    ask_fourth_votes(offering, market, now)
    copy = next(one for one in added_items(offering) if one.fourth_vote_in_id)

    copy.pk, copy.hit = None, offering.study.hits.all()[0]
    copy.position, copy._state.adding = 99, True
    with pytest.raises(IntegrityError, match=r"UNIQUE constraint|one_fourth_vote"):
        copy.save()


def test_pages_and_bundle_say_how_far_fourth_votes_are(
    offering: Offering, market: MTurkMarket, researcher: User, tmp_path: Path
) -> None:
    vote(offering, differing_on(items_of(offering)[:9]))
    set_cap(offering, budget_of(offering).committed_cents + 61, researcher, now())
    ask_fourth_votes(offering, market, now)
    vote(offering, lambda item, number: "loss", offering.study.hits.filter(added_for=offering), 1, "FOURTH")

    said = describe_fourth_votes(offering)
    bundle = export_bundle(offering, tmp_path / "bundle")
    methods = (tmp_path / "bundle" / "methods.md").read_text()

    assert said == (
        "9 items have three votes that all differ on a question. 7 fourth votes were asked for, and 7 came in. "
        "2 items undecided: no budget for a fourth vote."
    )
    assert "42 pairs of replies, 33 were unanimous, 9 needed a fourth vote, and 2 have no verdict" in methods
    # Rows were made without pages, so that their card orders are not the secret's.
    assert [one for one in check_bundle(tmp_path / "bundle") if "stood in another order" not in one] == []
    [section] = [one for one in report_of(bundle.results).criteria[0].sections if one.key == "votes"]
    assert section.notes == ("Of 42 items, 33 were unanimous, 9 needed a fourth vote, and 2 have no verdict.",)
    client = Client()
    client.force_login(researcher)
    assert said in html_of(client.get(f"/studies/{offering.study}/monitor/?market=local"))


@pytest.mark.usefixtures("researcher")
def test_a_simulated_crowd_gives_fourth_votes_through_the_worker_s_page(
    example_corpus: None, market: MTurkMarket
) -> None:
    datasets = [{"name": "example-empathetic", "dialogs": 20}]
    offering = offered(market, datasets=datasets, checkpoints={"per_hit": 0}, pay={"bonus": "0"})
    truth = Truth.model_validate({"pairs": {MODELS[0]: {MODELS[1]: [0.4, 0.3, 0.3]}}})

    for seed in range(4):  # people who give a HIT back leave it to those who come later
        simulate(offering.study, Crowd(12, truth, seed=seed), InProcess())
        sync(offering, market, now)
        if not open_places(offering) and not vote_state(offering).unasked:
            break

    state = vote_state(offering)
    votes, *_ = analyse_study(offering).criteria[0].votes
    assert state.differing == state.asked == state.returned
    assert votes.differing == len(state.differing) > 0
    assert votes.split == 0


def test_two_syncs_at_once_ask_once(offering: Offering, market: MTurkMarket) -> None:
    vote(offering, differing_on(items_of(offering)[:7]))

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(ask_in_thread, offering, market) for _ in range(2)]

    assert sorted(one.result() for one in both) == [0, 7]
    assert TurkHit.objects.count() == 6 + 1


def ask_in_thread(offering: Offering, market: MTurkMarket) -> int:
    try:
        return ask_fourth_votes(Offering.objects.get(pk=offering.pk), market, now).items
    finally:
        connection.close()


def test_what_a_killed_sync_has_saved_is_published_by_the_next(offering: Offering, market: MTurkMarket) -> None:
    vote(offering, differing_on(items_of(offering)[:7]))
    state = vote_state(offering)
    with spending(offering.study):
        save_intents(offering, due_fourth_votes(offering, state), now(), AskedVotes())  # and here it was killed

    is_due = are_fourth_votes_due(offering)
    asked = ask_fourth_votes(offering, market, now)

    assert is_due
    assert (asked.hits, asked.published) == (0, 1)
    assert TurkHit.objects.count() == 6 + 1
