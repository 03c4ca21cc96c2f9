from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from evalplatform.wording import count_of
from hits.crowds import enter_market
from hits.management.study_command import StudyCommand
from hits.models.money import cents_typed
from hits.replacing import describe_put_up_again, put_up_again


class Command(StudyCommand):
    help = """Puts HITs up again that nobody can work on any more.

    manage.py sync_hits demo
    manage.py put_up_again demo --dry-run
    manage.py put_up_again demo --budget 100
    manage.py put_up_again demo --elsewhere

These are HITs that somebody has deleted on the marketplace (a sync finds them); with --elsewhere, those that lead
workers to another address than this server's PUBLIC_URL, and they are taken off the market first. Only what is missing
is put up, for workers who have not done those dialogs. A run that was interrupted is simply started again.
Once a bundle has revealed the card orders, it needs --orders-are-public."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        self.add_marketplace_arguments(parser)
        parser.add_argument(
            "--elsewhere", action="store_true", help="those that lead to another address than PUBLIC_URL"
        )
        parser.add_argument("--budget", metavar="AMOUNT", help="refuse if the study could cost more in all")
        parser.add_argument("--dry-run", action="store_true", help="only show what would happen and what it costs")
        self.add_public_orders_argument(parser)

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering(options)
        self.refuse_public_orders(offering.study, options)
        budget_cents = cents_typed(options["budget"], "--budget", offering.currency)
        market, page_url = enter_market(offering)
        self.check_worker_page(offering, page_url)
        done = put_up_again(
            *(offering, market, page_url, timezone.now),
            budget_cents=budget_cents,
            is_dry_run=options["dry_run"],
            elsewhere=options["elsewhere"],
        )
        for line in describe_put_up_again(done, offering.currency):
            self.stdout.write(line)
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing is put up.")
        elif done.assignments:
            self.stdout.write(f"{count_of(done.published, 'HIT is', 'HITs are')} on offer again.")
        self.tell(done)
