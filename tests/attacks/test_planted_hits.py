"""HITs that someone else puts onto the marketplace in a study's name, for the next publishing run to adopt."""

from typing import Any

import pytest
from pytest_django import Settings

from hits.crowds.mturk.annotations import annotation_of, token_of
from hits.crowds.mturk.client import MTurkMarket, hit_type_of
from hits.crowds.mturk.question import external_question
from hits.crowds.mturk.types import NewHit
from hits.models import Event, Publication, Study, offering_for
from hits.publishing import stop_study
from hits.publishing.creating import adopt_orphans
from tests.hits.test_publishing import assert_each_hit_is_there_once, now, publish

THEIR_PAGE = "https://evil.example.org/"


def plant(market: MTurkMarket, study: Study, annotation: str, token: str = "theirs") -> str:
    hit_type = market.create_hit_type(hit_type_of(study.parsed_design))
    return market.create_hit(NewHit(hit_type, external_question(THEIR_PAGE, 800), 1, 86_400, annotation, token))


def adopted(study: Study) -> set[str]:
    return set(Publication.objects.filter(hit__study=study).values_list("crowd_hit_id", flat=True))


@pytest.mark.parametrize(
    "forge",
    [
        lambda study: f"evalplatform {study.key} 0",
        lambda study: f"evalplatform {study.key} 0 {'0' * 32}",
        lambda study: annotation_of(offering_for(study, "sandbox"), 0),
        lambda study: annotation_of(offering_for(study, "local"), 7).replace(" 7 ", " 0 "),
    ],
    ids=["unsigned", "guessed", "of the sandbox", "of another number"],
)
def test_a_planted_hit_is_not_adopted_and_a_line_says_so(
    bare_study: Study,
    market: MTurkMarket,
    forge: Any,
) -> None:
    planted = plant(market, bare_study, forge(bare_study))

    result = publish(bare_study, market)

    assert (result.published, result.adopted) == (6, 0)
    assert planted not in adopted(bare_study)
    publish(bare_study, market)
    text = f"left alone what names this study on the local market without our signature: {planted}"
    assert list(Event.objects.values_list("text", flat=True)) == [text]


def test_stopping_a_study_leaves_planted_hits_alone(bare_study: Study, market: MTurkMarket) -> None:
    publish(bare_study, market)
    Publication.objects.filter(hit__number=1).update(crowd_hit_id="", published_at=None)
    planted = plant(market, bare_study, f"evalplatform {bare_study.key} 1")

    assert stop_study(offering_for(bare_study, "local"), market, now).changed == 6
    assert market.get_hit(planted).expires_at > now()


def test_a_token_can_t_be_guessed_from_what_workers_see(bare_study: Study, market: MTurkMarket) -> None:
    for number in range(6):
        plant(market, bare_study, "theirs", token=f"{bare_study.key.hex}-{number}")

    assert publish(bare_study, market).published == 6
    assert all("evalplatform" in market.get_hit(one).mark for one in adopted(bare_study))


def test_a_hit_that_took_our_token_is_refused_instead_of_taken_for_ours(
    bare_study: Study,
    market: MTurkMarket,
) -> None:
    planted = plant(market, bare_study, "theirs", token=token_of(offering_for(bare_study, "local"), 0))

    result = publish(bare_study, market)

    assert (result.published, sum(result.refused.values())) == (5, 1)
    assert planted not in adopted(bare_study)
    assert f"HIT {planted}, which is not ours" in next(iter(result.refused))


def test_hits_of_before_a_change_of_key_are_still_known(
    bare_study: Study,
    market: MTurkMarket,
    settings: Settings,
) -> None:
    publish(bare_study, market)
    Publication.objects.all().delete()
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another key, of fifty random characters at the least"

    assert adopt_orphans(offering_for(bare_study, "local"), market, now()) == 0
    settings.SECRET_KEY_FALLBACKS = [old]
    assert adopt_orphans(offering_for(bare_study, "local"), market, now()) == 6
    settings.SECRET_KEY = old
    assert_each_hit_is_there_once(market, bare_study)


def test_a_mark_fits_into_what_mturk_takes(bare_study: Study) -> None:
    assert len(annotation_of(offering_for(bare_study, "production"), 999_999)) <= 255
    assert len(token_of(offering_for(bare_study, "production"), 999_999)) <= 64
