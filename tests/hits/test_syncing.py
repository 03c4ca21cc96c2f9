"""The round of every few minutes, as a command and by Celery."""

import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from hits.crowds.mturk.client import MTurkMarket
from hits.models import Payment, Study, offering_for
from hits.syncing import unsettled_offerings
from hits.tasks import sync_hits_of_offering
from localturk.models import Account, TurkAssignment
from tests.conftest import ROOT
from tests.hits.crowd import CrowdWorker, people, publish
from tests.processes import as_a_user_has_it


@pytest.fixture
def worked(demo_study: Study, market: MTurkMarket) -> Study:
    publish(demo_study, market)
    worker = CrowdWorker(demo_study.hits.get(number=0), people()[0])
    worker.win_all_bonuses()
    worker.finish()
    return demo_study


def run(study: Study) -> str:
    out = StringIO()
    call_command("sync_hits", study.name, stdout=out)
    return out.getvalue()


def test_the_command_collects_and_pays_and_says_so(worked: Study) -> None:
    first, again = run(worked), run(worked)

    assert "1 submission collected (0 rebuilt from the marketplace, 0 without answers)" in first
    assert "1 reward and 1 bonus paid, $0.60 with fees (0 were paid already)" in first
    assert "0 rewards and 0 bonuses paid" in again


def test_too_little_money_is_one_clear_line(worked: Study) -> None:
    Account.objects.update(balance_cents=Account.objects.get().held_cents)

    with pytest.raises(CommandError, match=r"InsufficientFunds.* \$0\.12 are still owed; add funds"):
        run(worked)


def test_celery_syncs_what_is_not_settled(worked: Study) -> None:
    assert unsettled_offerings() == [offering_for(worked, "local")]

    sync_hits_of_offering(offering_for(worked, "local").pk)

    assert TurkAssignment.objects.get().status == "Approved"
    assert Payment.objects.owed().count() == 0


@pytest.mark.postgresql  # the kills of publishing are on SQLite; benchmarks/sync_chaos.py has the long form
def test_syncs_killed_met_by_faults_and_restored_databases_lose_nothing_and_pay_once(test_database_url: str) -> None:
    """The short form of `python -m benchmarks.sync_chaos`, which plays 200 such rounds."""
    command = [sys.executable, "-m", "benchmarks.sync_chaos", "--rounds", "2", "--database-url", test_database_url]

    chaos = subprocess.run(command, cwd=ROOT, env=as_a_user_has_it(), capture_output=True, text=True, check=False)

    assert chaos.returncode == 0, chaos.stdout + chaos.stderr
    assert "0 answers lost" in chaos.stdout
    assert "0 payments double" in chaos.stdout
    assert "0 payments missing" in chaos.stdout
