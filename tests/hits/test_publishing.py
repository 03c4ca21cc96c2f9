"""Room 3: HITs -> the marketplace, each exactly once, whatever is killed or dropped."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evalplatform.errors import EvalPlatformError
from hits.designing.studies import create_study
from hits.markets import open_market
from hits.models import Publication, Study
from hits.mturk.client import Market
from hits.mturk.types import NewHit
from hits.publishing import (
    adopt_orphans,
    annotation_of,
    check_funds,
    plan_publishing,
    publish_hits,
    resume_study,
    stop_study,
)
from tests.conftest import ROOT
from tests.hits.conftest import DEMO
from tests.processes import as_a_user_has_it, manage

PAGE = "http://127.0.0.1:8000/work"


def now() -> datetime:
    return datetime.now(UTC)


def publish(study: Study, market: Market, hits: int | None = None) -> Any:
    return publish_hits(plan_publishing(study, "local", hits), market, PAGE, now)


def hits_on(market: Market, study: Study) -> Counter[str]:
    return Counter(hit.annotation for hit in market.list_hits() if str(study.key) in hit.annotation)


def assert_each_hit_is_there_once(market: Market, study: Study, count: int = 6) -> None:
    assert hits_on(market, study) == {annotation_of(study, number): 1 for number in range(count)}
    known = set(Publication.objects.filter(hit__study=study).values_list("mturk_hit_id", flat=True))
    assert known == {hit.mturk_hit_id for hit in market.list_hits() if str(study.key) in hit.annotation}


def test_every_hit_is_published_once_and_again_changes_nothing(demo_study: Study, market: Market) -> None:
    first, second = publish(demo_study, market), publish(demo_study, market)

    assert (first.published, second.published, second.adopted) == (6, 0, 0)
    assert_each_hit_is_there_once(market, demo_study)


def test_waves_publish_a_part_now_and_the_rest_later(demo_study: Study, market: Market) -> None:
    publish(demo_study, market, hits=2)
    publish(demo_study, market, hits=3)
    publish(demo_study, market)

    waves = Publication.objects.order_by("hit__number").values_list("wave", flat=True)
    assert list(waves) == [1, 1, 2, 2, 2, 3]
    assert_each_hit_is_there_once(market, demo_study)


def test_a_hit_whose_answer_was_lost_is_adopted_even_after_the_token_s_life(demo_study: Study, market: Market) -> None:
    publish(demo_study, market)
    # As if the run had been killed before it saved two outcomes, and a third row was lost with a restored database.
    Publication.objects.filter(hit__number__in=[1, 2]).update(mturk_hit_id="", published_at=None)
    Publication.objects.filter(hit__number=3).delete()

    assert adopt_orphans(demo_study, "local", market, now() + timedelta(hours=25)) == 3
    assert_each_hit_is_there_once(market, demo_study)


def test_hits_of_other_projects_are_left_alone(demo_study: Study, market: Market) -> None:
    from hits.models.design import StudyDesign
    from hits.mturk.question import external_question
    from hits.publishing import hit_type_of

    hit_type = market.create_hit_type(hit_type_of(StudyDesign.model_validate(demo_study.design)))
    other = NewHit(hit_type, external_question(PAGE, 800), 1, 86_400, "somebody else's 0", "their-token")
    other_id = market.create_hit(other)

    publish(demo_study, market)

    assert_each_hit_is_there_once(market, demo_study)
    assert market.get_hit(other_id).status == "Assignable"


def test_stopping_expires_at_once_and_resuming_puts_back(demo_study: Study, market: Market) -> None:
    publish(demo_study, market)

    assert stop_study(demo_study, "local", market, now) == 6
    assert stop_study(demo_study, "local", market, now) == 0
    assert all(hit.expires_at < now() for hit in market.list_hits())
    assert resume_study(demo_study, "local", market, now) == 6
    assert all(hit.expires_at > now() for hit in market.list_hits())


def test_budget_and_balance_are_checked_before_anything_is_spent(demo_study: Study, market: Market) -> None:
    plan = plan_publishing(demo_study, "local")

    check_funds(plan, market, 14_40)
    with pytest.raises(EvalPlatformError, match=r"at most \$14.40, above the given budget of \$14.39"):
        check_funds(plan, market, 14_39)


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["demo", "--budget", "10"], {}, "above the given budget of $10.00"),
        (["demo", "--budget", "much"], {}, "--budget is 'much'; write dollars"),
        (["demo", "--hits", "0"], {}, "--hits must be at least 1"),
        (["nope"], {}, "There is no study named 'nope'. Studies: demo, draft."),
        (["draft"], {}, "draft has no HITs yet: build them first"),
        (["demo", "--environment", "production"], {}, "needs MTURK_ENVIRONMENT=production"),
        (
            ["demo", "--environment", "production", "--yes"],
            {"MTURK_ENVIRONMENT": "production", "PUBLIC_URL": "http://eval.example.org"},
            "need a public HTTPS address",
        ),
        (
            ["demo", "--environment", "sandbox", "--dry-run"],
            {"PUBLIC_URL": "https://eval.example.org", "AWS_EC2_METADATA_DISABLED": "true"},
            "There are no AWS credentials",
        ),
    ],
)
def test_the_bad_cases_end_with_their_message_and_a_status(
    demo_study: Study, test_database_url: str, arguments: list[str], environment: dict[str, str], message: str
) -> None:
    create_study({**DEMO, "name": "draft"})
    no_keys = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_CONFIG_FILE": "/dev/null", "HOME": "/nowhere"}

    result = manage("publish_hits", *arguments, DATABASE_URL=test_database_url, **no_keys, **environment)

    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not Publication.objects.exists()


def test_the_command_says_the_cost_and_the_pay_first_and_the_counts_last(demo_study: Study, market: Market) -> None:
    output = StringIO()

    call_command("publish_hits", "demo", dry_run=True, stdout=output)
    call_command("publish_hits", "demo", stdout=output)
    call_command("publish_hits", "demo", stdout=output)

    assert output.getvalue() == (
        "demo on the local marketplace, wave 1: 6 HITs, 24 assignments, at most $14.40.\n"
        "$0.40 for 15 minutes is $1.60 an hour, below your minimum of $7.25: it takes a reward of $1.82 to reach it.\n"
        "Dry run: nothing is published.\n"
        "demo on the local marketplace, wave 1: 6 HITs, 24 assignments, at most $14.40.\n"
        "$0.40 for 15 minutes is $1.60 an hour, below your minimum of $7.25: it takes a reward of $1.82 to reach it.\n"
        "6 HITs published, 0 found there already, 0 refused.\n"
        "Look at it: http://127.0.0.1:8000/studies/demo/\n"
        "All HITs of demo are published on the local marketplace already.\n"
    )
    with pytest.raises(CommandError, match="no study named"):
        call_command("stop_study", "nope")
    call_command("stop_study", "demo", stdout=output)
    assert output.getvalue().endswith("6 HITs taken off the market.\n")


def test_runs_killed_at_any_moment_and_started_again_lose_and_double_nothing(
    demo_study: Study, test_database_url: str
) -> None:
    rng = random.Random(4)
    command = [sys.executable, "manage.py", "publish_hits", "demo"]
    environment = {**as_a_user_has_it(), "DATABASE_URL": test_database_url}

    for _ in range(6):
        run = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.6, 1.6))
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    manage("publish_hits", "demo", DATABASE_URL=test_database_url)

    assert_each_hit_is_there_once(open_market("local"), demo_study)
    assert Publication.objects.confirmed().count() == 6
