"""manage.py set_owner: give datasets and models to another user."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from evalplatform.errors import EvalPlatformError
from generation.models import Dataset, Generator
from generation.owning import find_owner


class Command(PlatformCommand):
    help = """Gives datasets and models to a user, whoever owned them before.

    manage.py set_owner rosa --dataset ED --model raw

Everyone on this server can see datasets and models and use them in studies. Only their owners and superusers can check
a dataset's style, let a model answer, and pause or cancel its runs. Superusers manage what has no owner."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("owner", help="a user name")
        parser.add_argument("--dataset", action="append", default=[], metavar="NAME", help="any number of times")
        parser.add_argument("--model", action="append", default=[], metavar="NAME", help="any number of times")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            owner = find_owner(options["owner"])
        except EvalPlatformError as error:
            raise CommandError(str(error)) from error
        found = [
            *(self._find(Dataset, "dataset", name) for name in options["dataset"]),
            *(self._find(Generator, "model", name) for name in options["model"]),
        ]
        if not found:
            raise CommandError("Name what to give: --dataset NAME or --model NAME.")
        for thing in found:
            thing.owner = owner
            thing.save(update_fields=["owner"])
            self.stdout.write(f"{thing} now belongs to {owner}.")

    def _find(self, kind: type[Dataset] | type[Generator], what: str, name: str) -> Dataset | Generator:
        thing = kind.objects.filter(name=name).first()
        if thing is None:
            raise CommandError(f"There is no {what} named {name!r}.")
        return thing
