"""Holds what commands about studies share: which marketplace they mean, and refusing once card orders are public."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.commands import PlatformCommand
from hits.analysing import find_pool
from hits.crowds import CROWDS, Met, all_marketplaces, crowd_in, environment_of, offered_marketplaces
from hits.designing import get_study
from hits.models import USUAL_CROWD, Offering, Scope, Study, Submission, marketplace_name, offering_for
from hits.publishing import (
    WorkerPageAway,
    check_worker_page,
    describe_public_orders,
    last_offering,
    published_offerings,
)


def _meant_crowd(study: Study, environment: str | None) -> str:
    """Return the crowd that a command without --crowd is about: local, sandbox and production alone are the usual
    crowd's, as they always were."""
    usual = [one.name for one in CROWDS[USUAL_CROWD].environments]
    return USUAL_CROWD if environment in usual else crowd_in(study.design).name


class StudyCommand(PlatformCommand):
    def run(self, options: dict[str, Any]) -> None:
        raise NotImplementedError  # each command has its own

    def handle(self, *args: Any, **options: Any) -> None:
        self.run(options)

    def add_marketplace_arguments(self, parser: CommandParser, needs_environment: bool = False) -> None:
        """Add arguments that say where the study is offered; by default on the crowd that it is meant for, in its
        safest environment."""
        names = {one.name: None for crowd in CROWDS.values() for one in crowd.environments}
        ours = "where workers come from (default: the crowd that the study is meant for)"
        parser.add_argument("--crowd", choices=list(CROWDS), help=ours)
        parser.add_argument("--environment", choices=list(names), required=needs_environment)

    def offering(self, options: dict[str, Any]) -> Offering:
        """Return the study on the marketplace that the command is about."""
        study = get_study(options["study"])
        crowd = options["crowd"] or _meant_crowd(study, options["environment"])
        names = [one.name for one in CROWDS[crowd].environments]
        environment = options["environment"] or names[0]
        if environment not in names:
            raise CommandError(f"--crowd {crowd} has no {environment}; there is: {', '.join(names)}.")
        return offering_for(study, marketplace_name(crowd, environment))

    def offering_to_read(self, options: dict[str, Any]) -> Offering:
        """Return the marketplace that is named, or else the one on which the study was published last, as on the pages.
        If it was published on several, say which one this is."""
        if options["crowd"] or options["environment"]:
            return self.offering(options)
        study = get_study(options["study"])
        found = last_offering(study, all_marketplaces())
        others = [one.marketplace for one in published_offerings(study) if one != found]
        if others:
            self.stderr.write(f"This is about {found.marketplace}; the study was also offered on {', '.join(others)}.")
        return found

    def offerings_to_sync(self, options: dict[str, Any]) -> list[Offering]:
        """Return the marketplace that is named, or else all on which the study is published, as far as this server may
        change something there."""
        if options["crowd"] or options["environment"]:
            return [self.offering(options)]
        published = published_offerings(get_study(options["study"]))
        offered = offered_marketplaces()
        if left_out := [one.marketplace for one in published if one.marketplace not in offered]:
            self.stderr.write(f"Not on {', '.join(left_out)}: this server may not change anything there.")
        return [one for one in published if one.marketplace in offered] or [self.offering(options)]

    def add_scope_arguments(self, parser: CommandParser) -> None:
        """Add arguments that say which results are meant: one offering's, or several together."""
        self.add_marketplace_arguments(parser)
        parser.add_argument(
            "--together",
            choices=Submission.Origin.values,
            help="all offerings together whose work is by people, or all that are simulated or rehearsed",
        )

    def scope(self, options: dict[str, Any]) -> Scope:
        """Return what the command is about: one offering, or several together."""
        if not options["together"]:
            return self.offering_to_read(options)
        if options["crowd"] or options["environment"]:
            raise CommandError("--together means all offerings: leave out --crowd and --environment.")
        return find_pool(get_study(options["study"]), options["together"])

    def add_public_orders_argument(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--orders-are-public", action="store_true", help="go on although a bundle has revealed the card orders"
        )

    def refuse_public_orders(self, study: Study, options: dict[str, Any]) -> None:
        """Refuse to bring in more workers after a bundle has revealed the card orders, unless the option says so. A dry
        run brings none."""
        warning = describe_public_orders(study)
        if warning and options.get("dry_run"):
            self.stderr.write(f"Mind: {warning}")
        elif warning and not options["orders_are_public"]:
            raise CommandError(f"{warning} To go on all the same, add --orders-are-public.")

    def tell(self, met: Met) -> None:
        """Print what the crowd refused, and fail if the run ended early."""
        for refusal in met.refusals:
            self.stdout.write(f"  {refusal}")
        if met.early_end:
            raise CommandError(met.early_end)

    def check_worker_page(self, offering: Offering, page_url: str) -> None:
        """Warn if no server answers at the page's address. It is only a warning where nothing is spent, since a
        simulated crowd needs no server."""
        try:
            check_worker_page(offering, page_url)
        except WorkerPageAway as away:
            if not environment_of(offering).runs_here:
                raise
            self.stderr.write(f"Mind: {away} `manage.py runserver` starts it; a simulated crowd works without.")
