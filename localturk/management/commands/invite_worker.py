import re
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.urls import reverse
from django.utils import timezone

from evalplatform.commands import PlatformCommand
from localturk.models import WorkerAccount
from localturk.signing_in import invite_worker, new_account


class Command(PlatformCommand):
    help = """Invites someone to work on the marketplace that runs here, where workers must sign in (in production).

    manage.py invite_worker --name Ana --country CH
    manage.py invite_worker --again A2XQ...     # another link for the same account, when a password is forgotten

Prints a link that works once, within a week: its reader chooses a password with it. Send it to that person only."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", help="how the pages greet them")
        parser.add_argument("--country", metavar="CC", help="two letters, as in US: studies ask for countries")
        parser.add_argument("--approved", type=int, default=0, metavar="N", help="approved HITs that they bring along")
        parser.add_argument("--again", metavar="WORKER_ID", help="a new link for this account")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.LOCAL_MARKET or not settings.MUST_WORKERS_SIGN_IN:
            raise CommandError(
                "Workers sign in only in production (SERVER_MODE=production) with LOCAL_MARKET=true; elsewhere "
                "everyone chooses who to be at /market/."
            )
        worker = self._known(options["again"]) if options["again"] else self._new(options)
        path = reverse("market-invitation", args=[invite_worker(worker, timezone.now())])
        self.stdout.write(f"{worker.name} is worker {worker.worker_id}.")
        self.stdout.write(f"{settings.PUBLIC_URL}{path}")

    def _known(self, worker_id: str) -> WorkerAccount:
        worker = WorkerAccount.objects.filter(worker_id=worker_id).first()
        if worker is None:
            raise CommandError(f"There is no worker {worker_id!r}.")
        return worker

    def _new(self, options: dict[str, Any]) -> WorkerAccount:
        name, country = (options["name"] or "").strip(), options["country"] or ""
        if not 1 <= len(name) <= 100 or not re.fullmatch("[A-Z]{2}", country) or options["approved"] < 0:
            raise CommandError("Say --name, of up to 100 letters, and --country, two capital letters as in US.")
        return new_account(name, country, options["approved"])
