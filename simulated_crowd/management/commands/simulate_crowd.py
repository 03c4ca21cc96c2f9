"""manage.py simulate_crowd: let a simulated crowd with a known truth work on a study's HITs."""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.terminal import progress_bar
from evalplatform.wording import count_of
from hits.designing import get_study
from hits.management.study_command import StudyCommand
from hits.models import offering_for
from hits.models.design import StudyDesign
from simulated_crowd.by_links import simulate_by_link
from simulated_crowd.channels import Channel, InProcess, OverHttp
from simulated_crowd.on_prolific import simulate_on_prolific
from simulated_crowd.people import Crowd
from simulated_crowd.simulating import SimulatedWork, simulate, usual_size
from simulated_crowd.truths import PRESETS, Truth, read_truth
from simulated_crowd.worker_types import USUAL_SHARES, WORKER_TYPES, parse_shares

NOTHING_LEFT = ("nothing-free", "study-complete")
REQUEST_LOG = "evalplatform.requests"


class Command(StudyCommand):
    help = f"""Lets a simulated crowd with a known truth work on a study's HITs on the local marketplace.

    manage.py publish_hits demo
    manage.py simulate_crowd demo --workers 30
    manage.py sync_hits demo

Its workers accept HITs, open the worker's page, place cards, ask for bonus points, submit, and now and then return or
abandon a HIT. What they think of a reply comes from --truth: {", ".join(PRESETS)}, or a file of your own
(docs/simulation.md). The same seed gives the same ratings. Types: {", ".join(WORKER_TYPES)}.

It goes on until no assignment is left, or nobody can take those that are left. Run it again for HITs that were
published since.
With --crowd link, it works on the trial of an open link, where nobody gives anything back.
With --crowd prolific, it works on the local Prolific, where our page gives out the HITs.
With --url, the crowd uses the pages of a running server with the same database over HTTP."""

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        usual = ",".join(f"{one.name}={share:g}" for one, share in USUAL_SHARES.items())
        add("study")
        add("--crowd", choices=["mturk", "link", "prolific"], default="mturk", help="where it works, in its form here")
        add("--workers", type=int, metavar="N", help="how many workers come (default: enough for the whole study)")
        add("--truth", default="demo", metavar="NAME|FILE", help="what is true of the replies (default demo)")
        add("--seed", type=int, default=1, help="the same seed gives the same crowd and ratings (default 1)")
        add(
            "--types",
            metavar="SHARES",
            help=f"shares of types; careful ones are the rest, unless named (default {usual})",
        )
        add("--hits", type=int, metavar="N", help="work on the first N HITs only")
        add("--url", metavar="URL", help="a running server with this database (default: work in this process)")
        add("--speed", type=float, metavar="X", help="X times as fast as real people (default: as fast as possible)")

    def run(self, options: dict[str, Any]) -> None:
        study = get_study(options["study"])
        for name in ("workers", "hits", "speed"):
            if options[name] is not None and not options[name] > 0:
                raise CommandError(f"--{name} must be above 0.")
        if options["crowd"] != "mturk" and (options["hits"] or options["speed"]):
            raise CommandError(
                "--hits and --speed are for the local marketplace: elsewhere, our page gives out the HITs."
            )
        truth = read_truth(options["truth"])
        shares = parse_shares(options["types"]) if options["types"] else USUAL_SHARES
        crowd = Crowd(options["workers"] or usual_size(study), truth, shares, options["seed"])
        channel: Channel = OverHttp(options["url"]) if options["url"] else InProcess()
        self._describe(crowd, truth, study.parsed_design)
        with progress_bar() as progress, _quiet_requests():
            bar = progress.add_task("Working", total=None)

            def on_progress(done: int, total: int) -> None:
                progress.update(bar, completed=done, total=total)

            if options["crowd"] == "link":
                work = simulate_by_link(offering_for(study, "link.trial"), crowd, channel, on_progress)
            elif options["crowd"] == "prolific":
                work = simulate_on_prolific(offering_for(study, "prolific.local"), crowd, channel, on_progress)
            else:
                work = simulate(study, crowd, channel, on_progress, hit_count=options["hits"], speed=options["speed"])
        self._report(work)

    def _describe(self, crowd: Crowd, truth: Truth, design: StudyDesign) -> None:
        types = Counter(worker.type.name for worker in crowd.workers)
        self.stdout.write(f"{count_of(crowd.size, 'worker comes', 'workers come')}: {_format_counts(types)}.")
        if names := truth.unmentioned([part.name for part in design.datasets], design.generators):
            default = ", ".join(f"{share:g}" for share in truth.default)
            self.stdout.write(f"The truth has nothing on {', '.join(names)}. Its default, best value first: {default}.")

    def _report(self, work: SimulatedWork) -> None:
        self.stdout.write(
            f"{count_of(work.submitted.total(), 'assignment')} submitted ({_format_counts(work.submitted)}), "
            f"{work.returned.total():,} returned, {work.abandoned.total():,} abandoned."
        )
        if work.refused:
            self.stdout.write(_say_refused(work.refused))
        if work.left:
            self.stdout.write(
                f"{work.left:,} of {count_of(work.wanted, 'assignment')} left, which nobody in this crowd could take. "
                "With --workers, more workers come."
            )
        else:
            self.stdout.write("No assignment is left." if work.wanted else "Nothing was on offer.")


@contextmanager
def _quiet_requests() -> Iterator[None]:
    """Log no requests meanwhile: each assignment takes a dozen of them in this process, and each would be a line."""
    logger = logging.getLogger(REQUEST_LOG)
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _say_refused(refused: Counter[str]) -> str:
    """Say which visits ended without work: most, because nothing was left, which is how a crowd ends."""
    nothing_left = sum(refused[name] for name in NOTHING_LEFT)
    others = Counter({name: count for name, count in refused.items() if name not in NOTHING_LEFT})
    told = []
    if nothing_left:
        told.append(f"{count_of(nothing_left, 'visit')} found nothing left to do.")
    if others:
        told.append(f"Refused: {_format_counts(others)}.")
    return " ".join(told)


def _format_counts(counter: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counter.most_common()) or "none"
