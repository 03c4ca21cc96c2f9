"""manage.py accept_secret_key: use the database with a new SECRET_KEY if the old one is lost."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalplatform.secret_key import key_problem, note_key

LOST = """This gives up the key that the database was used with, for good, and with it:
  - the marketplace's copies of answers that were signed with it: answers that are not rebuilt by now never will be,
  - pages that workers have open now, and everyone's log-in,
  - HITs that an interrupted publishing run left on the marketplace: remove them there by hand,
  - workers' pseudonyms: pages and new bundles will give the same workers other names.
If you still have the old key, name it in SECRET_KEY_FALLBACKS instead; then only the pseudonyms change."""


class Command(BaseCommand):
    help = f"Uses the database with another SECRET_KEY from now on, if the old one is lost.\n\n{LOST}"
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--yes", action="store_true", help="don't ask")

    def handle(self, *args: Any, **options: Any) -> None:
        if not key_problem():
            self.stdout.write("SECRET_KEY is the one that this database is used with: there is nothing to accept.")
            return
        self.stdout.write(LOST)
        if not options["yes"] and input("Type 'give it up' to continue: ") != "give it up":
            raise CommandError("Nothing was changed.")
        note_key()
        self.stdout.write("This database is now used with the present SECRET_KEY.")
