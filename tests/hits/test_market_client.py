"""The one client of Mechanical Turk: the same tests in-process and over HTTP."""

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from hits.crowds.mturk.client import MTurkMarket, boto_client
from hits.crowds.mturk.pacing import Pacer
from hits.crowds.mturk.qualifications import crowd_requirements
from hits.crowds.mturk.question import EXTERNAL_QUESTION, external_question
from hits.crowds.mturk.types import HitTypeSpec, NewHit
from hits.errors import MarketRefused, MarketUnavailable

SPEC = HitTypeSpec(
    title="Rate replies",
    description="Sort replies into areas",
    keywords="chat, rating",
    reward_cents=40,
    assignment_duration_seconds=3600,
    auto_approval_delay_seconds=86_400,
    requirements=crowd_requirements(["US", "GB"], 100, 95),
)


def new_hit(market: MTurkMarket, number: int = 1, **changes: object) -> NewHit:
    values: dict[str, object] = {
        "hit_type_id": market.create_hit_type(SPEC),
        "question_xml": external_question("https://eval.example.org/work/?a=1&b=<2>", 800),
        "max_assignments": 4,
        "lifetime_seconds": 86_400,
        "annotation": f"ours {number}",
        "token": f"token-{number}",
    }
    return NewHit(**{**values, **changes})  # type: ignore[arg-type]


def test_hits_are_created_listed_expired_and_extended(any_market: MTurkMarket) -> None:
    hit_id = any_market.create_hit(new_hit(any_market))

    (listed,) = any_market.list_hits()
    assert (listed.crowd_hit_id, listed.mark, listed.is_open) == (hit_id, "ours 1", True)
    assert (listed.max_assignments, listed.available_count, listed.completed_count) == (4, 4, 0)
    any_market.expire_hit(hit_id)
    assert any_market.get_hit(hit_id).expires_at < datetime.now(UTC)
    any_market.extend_hit(hit_id, datetime.now(UTC) + timedelta(days=2))
    assert any_market.get_hit(hit_id).is_open
    any_market.add_assignments(hit_id, 2, "more-1")
    assert any_market.get_hit(hit_id).max_assignments == 6
    assert list(any_market.list_assignments(hit_id)) == []


def test_the_same_hit_type_again_is_the_same_one(any_market: MTurkMarket) -> None:
    assert any_market.create_hit_type(SPEC) == any_market.create_hit_type(SPEC)


def test_a_repeated_request_gives_the_hit_that_is_there(any_market: MTurkMarket) -> None:
    first = any_market.create_hit(new_hit(any_market))

    assert any_market.create_hit(new_hit(any_market)) == first
    assert len(list(any_market.list_hits())) == 1


def test_lists_are_read_to_their_last_page(market: MTurkMarket) -> None:
    for number in range(130):
        market.create_hit(new_hit(market, number))

    assert {hit.mark for hit in market.list_hits()} == {f"ours {number}" for number in range(130)}


def test_what_the_marketplace_refuses_comes_with_its_own_code_and_words(any_market: MTurkMarket) -> None:
    with pytest.raises(MarketRefused, match="HITDoesNotExist") as refused:
        any_market.get_hit("3" + "X" * 29)

    assert refused.value.code == "AWS.MechanicalTurk.HITDoesNotExist"


def test_a_marketplace_that_is_not_there_is_unavailable() -> None:
    client = boto_client("http://127.0.0.1:9", has_own_credentials=False, attempts=1)

    with pytest.raises(MarketUnavailable, match="can't be reached"):
        MTurkMarket(client).balance_cents()


def test_the_balance_is_whole_cents(any_market: MTurkMarket) -> None:
    assert any_market.balance_cents() == 10_000_00


def test_our_own_qualification_is_made_once(any_market: MTurkMarket) -> None:
    first = any_market.own_qualification("no more of this study", "Given to workers who have done their share.")

    assert any_market.own_qualification("no more of this study", "Given to workers who have done their share.") == first


def test_the_question_is_escaped_by_its_library() -> None:
    root = ElementTree.fromstring(external_question("https://x.example/?a=1&b=<2>", 800))

    assert root.findtext(f"{{{EXTERNAL_QUESTION}}}ExternalURL") == "https://x.example/?a=1&b=<2>"
    assert root.findtext(f"{{{EXTERNAL_QUESTION}}}FrameHeight") == "800"


def test_requirements_leave_out_what_the_study_does_not_ask_for() -> None:
    assert crowd_requirements([], 0, 0) == ()
    assert len(crowd_requirements(["US"], 100, 95, blocked_by="Q1")) == 4


def test_the_pacer_hands_out_turns_at_its_rate() -> None:
    slept: list[float] = []
    pacer = Pacer(10, monotonic=lambda: 100.0, sleep=slept.append)

    for _ in range(4):
        pacer.wait()

    assert slept == pytest.approx([0.1, 0.2, 0.3])
