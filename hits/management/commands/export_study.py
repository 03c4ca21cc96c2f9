from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from hits.analysing import describe_left_out, offerings_of
from hits.exporting import export_bundle, export_ratings, find_browser
from hits.management.study_command import StudyCommand
from hits.models import Pool, ScreeningRun


class Command(StudyCommand):
    help = """Writes a study's bundle: ratings, results, tables, figures, methods, datasheet, manifest and hashes.

    manage.py export_study demo --out var/demo-bundle
    manage.py export_study demo --out shared-with-lab --pseudonyms our-lab
    manage.py export_study huge --out huge-ratings --only-ratings
    manage.py export_study demo --out for-the-paper --texts --screenshots
    manage.py export_study demo --out pilot-and-prolific --together people

The same study gives the same bytes, except for pictures of pages (--screenshots), which depend on the browser. --texts
adds an appendix with three example dialogs: leave it out where the corpus may not be passed on. An older bundle in the
folder is replaced at the end; a folder that is no bundle is left alone. Workers' pseudonyms are this study's own; with
--pseudonyms, all bundles under the same name call a worker the same, also those of other studies. Statistics need all
ratings at once, about a gigabyte for a million; with --only-ratings, tens of millions are written in the memory of a
few thousand. docs/results.md explains every file; check_bundle checks a bundle."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the bundle's folder")
        self.add_scope_arguments(parser)
        parser.add_argument(
            "--pseudonyms", default="", metavar="NAME", help="share pseudonyms with bundles of this name"
        )

        parser.add_argument(
            "--texts", action="store_true", help="also texts of dialogs: three examples, and one on a worker's page"
        )
        parser.add_argument(
            "--screenshots", action="store_true", help="also pictures of the worker's pages, with Chromium"
        )
        parser.add_argument(
            "--only-ratings", action="store_true", help="the ratings files and bundle.json, without statistics"
        )

    def run(self, options: dict[str, Any]) -> None:
        scope = self.scope(options)
        if all(ScreeningRun.objects.current(one) is None for one in offerings_of(scope)):
            self.stderr.write(f"{scope.study} was not screened: everything counts. Run screen_study first.")
        if isinstance(scope, Pool) and (left_out := describe_left_out(scope)):
            self.stderr.write(left_out)
        if options["only_ratings"]:
            about = export_ratings(scope, options["out"], options["pseudonyms"])
            self.stdout.write(f"Wrote {about.ratings:,} ratings, without statistics, to {options['out']}.")
            return
        browser = find_browser() if options["screenshots"] else ""
        bundle = export_bundle(
            scope, options["out"], options["pseudonyms"], has_texts=options["texts"], browser=browser
        )
        sizes = [one.size for one in bundle.results.criteria]
        counting = sum(size.ratings + size.human_ratings for size in sizes)
        files = sum(path.is_file() for path in bundle.folder.rglob("*"))
        self.stdout.write(
            f"Wrote {bundle.about.ratings:,} ratings, of which {counting:,} count, and what "
            f"they say: {files} files in {bundle.folder}."
        )
