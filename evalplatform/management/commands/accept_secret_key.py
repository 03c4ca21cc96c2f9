from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalplatform.secret_key import key_problem, note_key

LOST = """The key that this database was used with is then given up for good, and with it:
  - the marketplace's copies of answers that were signed with it: what is not rebuilt by now never will be,
  - pages that workers have open now, and everyone's log-in,
  - HITs that an interrupted publishing run left on the marketplace: take them off there by hand,
  - workers' pseudonyms: the pages and new bundles name the same workers otherwise.
If you still have the old key, name it in SECRET_KEY_FALLBACKS instead, and nothing of this is lost but the names."""


class Command(BaseCommand):
    help = f"Uses the database with another SECRET_KEY from now on, when the old one is lost.\n\n{LOST}"
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--yes", action="store_true", help="don't ask")

    def handle(self, *args: Any, **options: Any) -> None:
        if not key_problem():
            self.stdout.write("SECRET_KEY is the one that this database is used with: there is nothing to accept.")
            return
        self.stdout.write(LOST)
        if not options["yes"] and input("Type 'give it up' to go on: ") != "give it up":
            raise CommandError("Nothing was changed.")
        note_key()
        self.stdout.write("The present SECRET_KEY is this database's from now on.")
