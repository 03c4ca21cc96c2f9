from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandParser

from evalplatform.errors import EvalPlatformError
from hits.designing import (
    check_study_style,
    create_study,
    read_study_file,
    select_dialogs,
    style_warning,
    summarise,
    usual_texts,
)
from hits.management.study_command import StudyCommand


class Command(StudyCommand):
    help = """Makes a study from a TOML file, after checking it against the data.

    manage.py create_study examples/demo.toml

An invalid study is refused with every problem at once. The same file again changes nothing. examples/meed2.toml is
the paper's experiment; docs/studies.md lists every setting. Next: manage.py build_hits NAME.

In the pages a study is seen by its owner, by the members whom the owner invites there, and by superusers. Without
--owner, superusers alone see it; the same file again with --owner gives it one."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--owner", metavar="NAME", help="the user name of whose study it is")

    def run(self, options: dict[str, Any]) -> None:
        study = create_study(read_study_file(options["file"]), _owner(options["owner"]))
        design = study.parsed_design
        self.stdout.write(f"Study {study}:")
        summary = summarise(design)
        for line in [*summary.lines, summary.hourly_pay, *summary.analysis, *summary.warnings]:
            self.stdout.write(f"  {line}")
        for line in style_warning(check_study_style(design, select_dialogs(design)).as_json()):
            self.stdout.write(f"  {line}")
        for about, words in usual_texts(design).items() if not study.is_frozen else ():
            self.stdout.write(f"  Before its HITs are built, look at {about.lower()}: {words}")


def _owner(name: str | None) -> User | None:
    if name is None:
        return None
    user = User.objects.filter(username=name).first()
    if user is None:
        raise EvalPlatformError(f"Nobody here has the user name {name!r}.")
    return user
