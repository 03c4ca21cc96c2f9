from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from hits.exporting import RATINGS_FILES, check_bundle, describe_only_hashed, unpack_bundle
from hits.management.study_command import StudyCommand


class Command(StudyCommand):
    help = """Makes every statistic and table of a bundle again, from its ratings file alone, and compares.

    manage.py check_bundle var/demo-bundle
    manage.py check_bundle demo-local.zip
    manage.py check_bundle var/demo-bundle --ratings ratings.parquet

Also checks the hashes. Needs no study in the database. Exits with 1 and says what differs."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="the bundle's folder, or the zip file that the pages hand out")
        parser.add_argument("--ratings", choices=RATINGS_FILES, default=RATINGS_FILES[0], help="the file to start from")

    def run(self, options: dict[str, Any]) -> None:
        with unpack_bundle(options["folder"]) as folder:
            found = check_bundle(folder, options["ratings"])
            only_hashed = describe_only_hashed(folder)
        if found:
            raise CommandError("\n".join([f"{options['folder']} does not hold together:", *found]))
        self.stdout.write(
            f"{options['folder']} holds together: no file has changed, and {options['ratings']} alone gives the same "
            f"results, tables and figures. {only_hashed}"
        )
