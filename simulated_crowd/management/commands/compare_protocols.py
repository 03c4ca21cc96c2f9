"""manage.py compare_protocols: which way of asking tells models apart with the fewest ratings, minutes and dollars?"""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from hits.analysing import SeenBy, compare_protocols, protocol_comparison_as_text, seen_by
from hits.designing import get_study
from hits.management.study_command import StudyCommand
from simulated_crowd.rehearsing_protocols import rehearse, usual_workers
from simulated_crowd.truths import PRESETS, read_truth, spaced_truth


class Command(StudyCommand):
    help = f"""Compares ways of asking: studies of the same dialogs and models under two or three protocols.

    manage.py compare_protocols demo demo-likert demo-pairs --simulate 40
    manage.py compare_protocols meed2 meed2-ab

For each pair of models, it says how many ratings, minutes and dollars each study needs to tell the two apart, with 95 %
intervals, and the ratios of minutes and money; and how far the studies rank the models alike.

Without --simulate, the studies must have ratings: what counts is what the current screening keeps, on the crowd where a
study was offered last. With --simulate N, nothing needs to be published: N studies of each design are drawn, and each
answer goes through its protocol. --truth says how good the models are: {", ".join(PRESETS)}, or a file of your own
(docs/simulation.md). Without it, each model of the first study is better than the next one by --apart points of good.
Nothing is stored."""

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("studies", nargs="+", metavar="STUDY")
        add("--simulate", type=int, metavar="N", help="draw so many studies of each design, instead of real ratings")
        add("--truth", metavar="NAME|FILE", help="with --simulate: how good the models are")
        add("--apart", type=float, default=5, metavar="POINTS", help="with --simulate, without --truth (default 5)")
        add(
            "--workers",
            type=int,
            metavar="N",
            help="with --simulate: how many workers (default: by the number of HITs)",
        )
        add("--seed", type=int, default=1, help="with --simulate: the same seed gives the same answer (default 1)")

    def run(self, options: dict[str, Any]) -> None:
        names = options["studies"]
        if len(set(names)) != len(names) or not 2 <= len(names) <= 3:
            raise CommandError("Name two or three different studies: compare_protocols demo demo-pairs.")
        if options["simulate"] is not None:
            seen = self._simulated(options)
        elif given := next((name for name in ("truth", "workers") if options[name] is not None), ""):
            raise CommandError(f"--{given} is for simulated studies: add --simulate 40.")
        else:
            where = {"crowd": None, "environment": None}
            seen = [seen_by(self.offering_to_read({"study": name, **where})) for name in names]
        for line in protocol_comparison_as_text(compare_protocols(seen)):
            self.stdout.write(line)

    def _simulated(self, options: dict[str, Any]) -> list[SeenBy]:
        if options["simulate"] < 2:
            raise CommandError("--simulate takes two studies or more; 40 give intervals that help.")
        if options["workers"] is not None and options["workers"] < 1:
            raise CommandError("--workers must be above 0.")
        designs = {name: get_study(name).parsed_design for name in options["studies"]}
        models = next(iter(designs.values())).generators
        truth = read_truth(options["truth"]) if options["truth"] else spaced_truth(models, options["apart"])
        size, studies, seed = options["workers"], options["simulate"], options["seed"]
        return [
            rehearse(name, design, truth, studies, size or usual_workers(design), seed)
            for name, design in designs.items()
        ]
