from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from hits.crowds import open_crowd
from hits.management.study_command import StudyCommand
from hits.models.money import cents_typed
from hits.replacing import describe_replaced, replace_lost_assignments


class Command(StudyCommand):
    help = """Offers assignments again in place of those that a study has lost.

    manage.py sync_hits demo
    manage.py screen_study demo
    manage.py replace_assignments demo --dry-run
    manage.py replace_assignments demo --budget 100

Lost is what the study's own screening rules leave out (not an exploration), what was rejected by hand or came without
answers, and what expired before anybody took it. A HIT has no more assignments than its crowd allows, and nothing is
asked for above the study's budget or the given one. Run it again at any time: nothing is asked for twice. Once a bundle
has revealed the card orders, it needs --orders-are-public."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        self.add_marketplace_arguments(parser)
        parser.add_argument("--budget", metavar="AMOUNT", help="the most that the study may cost in all")
        parser.add_argument("--dry-run", action="store_true", help="only show what would happen and what it costs")
        self.add_public_orders_argument(parser)

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering(options)
        self.refuse_public_orders(offering.study, options)
        budget_cents = cents_typed(options["budget"], "--budget", offering.currency)
        replaced = replace_lost_assignments(
            *(offering, open_crowd(offering), timezone.now),
            budget_cents=budget_cents,
            is_dry_run=options["dry_run"],
        )
        for line in describe_replaced(replaced, offering.currency):
            self.stdout.write(line)
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing is requested.")
        self.tell(replaced)
