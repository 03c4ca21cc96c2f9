"""manage.py invite_worker: invite someone to work on the local marketplace in production."""

import re
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from evalplatform.commands import PlatformCommand
from localturk.models import WorkerAccount
from localturk.seeding import is_simulated_worker
from localturk.signing_in import invite_worker, new_account


class Command(PlatformCommand):
    help = """Invites someone to work on the marketplace that runs here, if workers must sign in (in production).

    manage.py invite_worker --name Ana --country CH
    manage.py invite_worker --again A2XQ...     # another link for the same account, when a password is forgotten

It prints a link with which one chooses a password. The link works once, for a week. Send it to that person only."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", help="the name that the pages show")
        parser.add_argument("--country", metavar="CC", help="two letters, such as US, since studies ask for countries")
        parser.add_argument(
            "--approved", type=int, default=0, metavar="N", help="how many HITs count as approved before"
        )
        parser.add_argument("--again", metavar="WORKER_ID", help="a new link for this account")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.LOCAL_MARKET or not settings.MUST_WORKERS_SIGN_IN:
            raise CommandError(
                "Workers sign in only in production (SERVER_MODE=production) with LOCAL_MARKET=true. Elsewhere, people "
                "choose a worker at /market/."
            )
        worker = self._find_worker(options["again"]) if options["again"] else self._make_worker(options)
        path = reverse("market-invitation", args=[invite_worker(worker, timezone.now())])
        self.stdout.write(f"{worker.name} is worker {worker.worker_id}.")
        self.stdout.write(f"{settings.PUBLIC_URL}{path}")

    def _find_worker(self, worker_id: str) -> WorkerAccount:
        worker = WorkerAccount.objects.filter(worker_id=worker_id).first()
        if is_simulated_worker(worker_id):
            raise CommandError(f"{worker_id} is a simulated worker: nobody can work in its name.")
        if worker is None:
            raise CommandError(f"There is no worker {worker_id!r}.")
        return worker

    def _make_worker(self, options: dict[str, Any]) -> WorkerAccount:
        name, country = (options["name"] or "").strip(), options["country"] or ""
        if not 1 <= len(name) <= 100 or not re.fullmatch("[A-Z]{2}", country) or options["approved"] < 0:
            raise CommandError("Give a --name of up to 100 letters and a --country of two capital letters such as US.")
        return new_account(name, country, options["approved"])
