"""What the chaos benchmark of Prolific stands on: a Prolific in a process and database of its own, and its people."""

import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchmarks.publishing import ROOT
from benchmarks.two_sides import MARKET, Server

if TYPE_CHECKING:
    from hits.models import Study
    from localprolific.models import Participant, ProlificStudy, ProlificSubmission

CENTS_ENOUGH = 10**10
HOURS = timedelta(hours=5)  # longer than anybody may take


class ProlificRouter:
    """Lets the benchmark's own process read Prolific's tables in its database; our runs use HTTP only."""

    def db_for_read(self, model: Any, **_: Any) -> str | None:
        return MARKET if model._meta.app_label == "localprolific" else None

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **_: Any) -> bool | None:
        return None


@contextmanager
def prolific_beside_us(database_url: str) -> Iterator[Server]:
    """Set up Django for our side, and run `manage.py localprolific` as another company would."""
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "prolific.sqlite3"
        environment = {**os.environ, "VAR_DIR": name, "DATABASE_URL": f"sqlite://{database}", "LOG_LEVEL": "ERROR"}
        manage = [sys.executable, "manage.py"]
        subprocess.run([*manage, "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True)
        command = [*manage, "localprolific", "--port", "0"]
        with (Path(name) / "prolific.log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
        try:
            assert process.stdout is not None
            url = next(word for word in process.stdout.readline().split() if word.startswith("http"))
            token = process.stdout.readline().split()[-1]
            yield from _set_up(name, database_url, database, url, token, process.pid)
        finally:
            process.terminate()
            process.wait()


def _set_up(folder: str, database_url: str, database: Path, url: str, token: str, process_id: int) -> Iterator[Server]:
    os.environ |= {"VAR_DIR": folder, "DATABASE_URL": database_url, "LOG_LEVEL": "ERROR"}
    os.environ |= {"PROLIFIC_LOCAL_URL": url, "PROLIFIC_TOKEN": token}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "evalplatform.settings"}
    import django
    from django.conf import settings

    from evalplatform.environment import sqlite_in_file

    settings.DATABASES[MARKET] = sqlite_in_file(str(database))
    settings.DATABASE_ROUTERS = ["benchmarks.prolific_side.ProlificRouter"]
    settings.ALLOWED_HOSTS = ["testserver"]
    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from hits.management.commands import publish_hits, sync_hits  # noqa: F401  # loaded here, so in every fork
    from localprolific.behaviour import set_behaviour
    from localprolific.models import Workspace

    call_command("migrate", verbosity=0)
    Workspace.objects.update(balance_cents=CENTS_ENOUGH)
    set_behaviour(publishing_seconds=0, bulk_approval_seconds=0, bonus_payment_seconds=0.2)
    yield Server(process_id)
    connections.close_all()


def hang_up() -> None:
    """Close this process's own connections: for each, the other side keeps a thread, as if a call were on its way.

    Without the collection, a connection stays open as long as the traceback of a failed call refers to it: then this
    benchmark would wait for ever.
    """
    from hits.crowds.prolific import prolific_transport

    pools = prolific_transport.pool_of_process(os.getpid())
    for key in list(pools.pools.keys()):
        pools.pools[key].close()
    pools.clear()
    gc.collect()


# --- People ----------------------------------------------------------------------------------------------------------


@contextmanager
def at_prolific() -> Iterator[None]:
    """Act in Prolific's database, as its own pages do."""
    from django.db import transaction

    with transaction.atomic(using=MARKET):
        yield


def study_of(study: "Study") -> "ProlificStudy":
    from localprolific.models import ProlificStudy

    return ProlificStudy.objects.undeleted().get(internal_name__startswith=f"EvalPlatform {study.key} ")


def submissions_of(study: "Study") -> "list[ProlificSubmission]":
    from localprolific.models import ProlificSubmission

    ours = ProlificSubmission.objects.filter(study__internal_name__startswith=f"EvalPlatform {study.key} ")
    return list(ours.select_related("participant", "study").order_by("pk"))


@dataclass
class Rater:
    """Comes from Prolific, works on our page as a browser would, and completes there."""

    participant: "Participant"
    rng: random.Random
    late: "OpenPage | None" = None  # what they are still at when their time is over

    def take_part(self, study: "Study", now: "datetime") -> None:
        """Come, and hand in, return, give up, or stay at it for too long. Some are turned away."""
        from localprolific import participating
        from localprolific.errors import Refused

        try:
            with at_prolific():
                submission = participating.reserve(self.participant, study_of(study), now)
                address = participating.start(submission, now)
        except Refused:
            return
        page = OpenPage.of(address, submission)
        luck = self.rng.random()
        if page is None or luck < 0.05:
            return
        if luck < 0.25 and self.late is None:
            self.late = page
        elif luck < 0.3:
            page.hand_in(self.rng)
            with at_prolific():
                participating.return_submission(submission, now)
        else:
            self._complete(page, now)

    def hand_in_late(self, now: "datetime") -> bool:
        page, self.late = self.late, None
        if page is not None:
            self._complete(page, now)
        return page is not None

    def _complete(self, page: "OpenPage", now: "datetime") -> None:
        from localprolific import participating

        if code := page.hand_in(self.rng):
            with at_prolific():
                participating.complete(self.participant, code, now)


@dataclass
class OpenPage:
    """Our page in somebody's browser."""

    browser: Any
    data: dict[str, Any]
    submission: "ProlificSubmission"

    @classmethod
    def of(cls, address: str, submission: "ProlificSubmission") -> "OpenPage | None":
        from django.test import Client

        browser, url = Client(), urlsplit(address)
        page = browser.get(f"{url.path}?{url.query}")
        if page.status_code != 200:
            return None
        found = page.content.decode().split('<script id="hit" type="application/json">')[1].split("</script>")[0]
        data = json.loads(found)
        return cls(browser, data, submission) if data["mode"] == "work" else None

    def hand_in(self, rng: random.Random) -> str:
        """Rate everything, and return the code that our page sends them back with; "" if it refuses the work."""
        from hits.protocols import usual_protocol

        self._call("save", {"consent": self.data["consent_version"]})
        dialogs = []
        for position, dialog in enumerate(self.data["dialogs"]):
            favourite = rng.random() < 0.6  # so that many win their bonus
            levels = [0 if favourite else rng.randrange(3) for _ in dialog["cards"]]
            sent = usual_protocol().sent_by(levels)
            dialogs.append({"position": position, "revision": dialog["answer"]["revision"], **sent})
        told = self._call("submit", {"dialogs": dialogs, "feedback": ""}).json()
        return str(told.get("code", "")) if told.get("way") == "redirect" else ""

    def _call(self, name: str, body: Any) -> Any:
        headers = {"Authorization": f"Assignment {self.data['token']}"}
        address = f"/work/api/{name}/"
        return self.browser.post(address, json.dumps(body), content_type="application/json", headers=headers)


def let_time_run_out(pages: "Sequence[OpenPage]", rng: random.Random, now: "datetime") -> None:
    """Let hours pass for those who are still at it: here for all, at Prolific for some."""
    from hits.models import Assignment
    from localprolific.models import ProlificSubmission

    for page in pages:
        for one in Assignment.objects.filter(crowd_assignment_id=page.submission.submission_id):
            Assignment.objects.filter(pk=one.pk).update(held_at=one.held_at - HOURS, opened_at=one.opened_at - HOURS)
        if rng.random() < 0.5:
            ProlificSubmission.objects.filter(pk=page.submission.pk).update(due_at=now)


def new_raters(rng: random.Random, count: int) -> list[Rater]:
    from localprolific.seeding import new_participant

    with at_prolific():
        return [Rater(new_participant(f"Rater {number}", is_simulated=False), rng) for number in range(count)]


def pay_by_hand(submission: "ProlificSubmission", cents: int, now: "datetime") -> None:
    """Give a bonus on Prolific's own pages, with a list that our side does not know."""
    from localprolific.hex_ids import new_id
    from localprolific.models import BonusLine, BonusList, BonusOrder, PaidBonus, WalletEntry

    with at_prolific():
        made = BonusList.objects.create(list_id=new_id(), study=submission.study, created_at=now)
        line = BonusLine.objects.create(bonus_list=made, submission=submission, amount_cents=cents)
        order = BonusOrder.objects.create(bonus_list=made, ordered_at=now, held_cents=0)
        PaidBonus.objects.create(
            order=order, line=line, submission=submission, amount_cents=cents, paid_at=now, visible_at=now
        )
        WalletEntry.objects.create(
            kind=WalletEntry.Kind.BONUS,
            workspace=submission.study.workspace,
            submission=submission,
            amount_cents=cents,
            fee_cents=0,
            paid_at=now,
        )


def make_study(rng: random.Random) -> "Study":
    """Make a study of small HITs: the money and the races are the same."""
    from hits.batching import build_hits
    from hits.designing import create_study, read_study_file
    from hits.models import Study

    name = f"chaos-{uuid.UUID(int=rng.getrandbits(128))}"
    settings: dict[str, Any] = {
        **read_study_file(ROOT / "examples" / "demo.toml"),
        "name": name,
        "seed": rng.randrange(2**31),
        "datasets": [{"name": "example-empathetic", "dialogs": 6}, {"name": "example-subtitles", "dialogs": 3}],
        "hits": {"dialogs": 3, "assignments": rng.choice([1, 2, 3])},
        "checkpoints": {"per_hit": 2, "datasets": ["example-empathetic"]},
        "pay": {
            **{"currency": "GBP", "reward": "1.50", "bonus": "0.10", "bonus_points": 2},
            **{"expected_minutes": 10, "minimum_hourly": "6.00"},
        },
        "crowd": {
            **{"name": "prolific", "countries": [], "min_approved": 0, "min_approval_percent": 0},
            "max_hits_per_worker": 3,
        },
        "screening": [],
    }
    build_hits(create_study(settings))
    return Study.objects.get(name=name)


def time_there() -> datetime:
    from localprolific.panel_clock import Clock

    return Clock().now()


def cents_here(study: "Study") -> int:
    from django.db.models import Sum

    from hits.models import Payment

    paid = Payment.objects.filter(submission__assignment__hit__study=study).paid()
    return int(paid.aggregate(total=Sum("cents"))["total"] or 0)


def cents_there(submission: Any) -> int:
    return sum(submission.wallet_entries.values_list("amount_cents", flat=True))


def take_protection_out() -> None:
    """Forget each claim when the next run begins, and don't look at the notes at Prolific."""
    from hits.crowds.prolific.prolific_market import ProlificMarket
    from hits.models import Payment
    from hits.paying import bulk_payments

    read_again = bulk_payments._read_again

    def forget(payments: Sequence["Payment"]) -> list["Payment"]:
        unpaid = Payment.objects.owed().filter(pk__in=[one.pk for one in payments])
        unpaid.update(sending_at=None, bonus_list=None)
        return read_again(payments)

    ProlificMarket.asked_before = lambda self, bonuses: []  # type: ignore[method-assign]
    bulk_payments._read_again = forget
