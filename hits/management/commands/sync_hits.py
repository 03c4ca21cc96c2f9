from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from rich.progress import Progress, TaskID

from evalplatform.errors import EvalPlatformError
from evalplatform.terminal import progress_bar
from evalplatform.wording import count_of
from hits.crowds import enter_market, open_crowd
from hits.deciding import describe_followed, follow_rule
from hits.management.study_command import StudyCommand
from hits.models import Offering, Payment
from hits.models.money import money
from hits.publishing import carry_out_run
from hits.syncing import Synced, describe_paid, describe_waiting, sync, troubles_of


class Command(StudyCommand):
    help = """Collects what workers have submitted, approves and pays it, and caps who has done enough.

    manage.py sync_hits demo
    manage.py sync_hits demo --crowd prolific --environment production

Without --crowd and --environment it syncs the study wherever it is published. Run it as often as you like, also while
another one runs: every answer is collected once, every reward and bonus is paid once. Celery's beat does the same every
few minutes."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        self.add_marketplace_arguments(parser)

    def run(self, options: dict[str, Any]) -> None:
        offerings = self.offerings_to_sync(options)
        if len(offerings) == 1:
            self._sync(offerings[0])
            return
        failed = []
        for one in offerings:
            self.stdout.write(f"{one.marketplace}:")
            try:
                self._sync(one)
            except (CommandError, EvalPlatformError) as error:  # it keeps no other crowd's workers waiting
                failed.append(f"{one.marketplace}: {error}")
        if failed:
            raise CommandError("\n".join(failed))

    def _sync(self, offering: Offering) -> None:
        with progress_bar() as progress:
            market = open_crowd(offering)
            synced = sync(offering, market, timezone.now, _Bars(progress))
        followed = follow_rule(
            offering, market, timezone.now, lambda run: carry_out_run(run, enter_market, timezone.now)
        )
        owed = Payment.objects.filter(submission__assignment__offering=offering).owed()
        for line in describe_followed(followed):
            self.stdout.write(line)
        self._report(synced, owed.cents(), offering.currency)

    def _report(self, synced: Synced, owed_cents: int, currency: str) -> None:
        collected, paid, limited = synced.collected, synced.paid, synced.limited
        self.stdout.write(
            f"{count_of(collected.new, 'submission')} collected ({collected.rebuilt:,} rebuilt from the marketplace, "
            f"{collected.without_answers:,} without answers), "
            f"{count_of(collected.ended, 'assignment')} ended without one."
        )
        told = (
            f"{count_of(paid.rewards, 'reward')} and {count_of(paid.bonuses, 'bonus', 'bonuses')} paid, "
            f"{money(paid.cents, currency)} with fees ({count_of(paid.found, 'was', 'were')} paid already)."
        )
        if not paid.is_by_crowd:
            told = f"{describe_paid(paid, currency)}."
        self.stdout.write(f"{told} {count_of(limited.capped, 'worker has', 'workers have')} reached the limit.")
        if paid.ordered:
            ordered = count_of(paid.ordered, "bonus was", "bonuses were")
            self.stdout.write(f"{ordered} ordered; it takes some minutes until they are seen to be paid.")
        if synced.replaced:
            replaced = synced.replaced
            offered = count_of(replaced.added + replaced.reopened, "lost assignment is", "lost assignments are")
            self.stdout.write(f"{offered} on offer again.")
        if synced.asked.hits:
            votes, hits = count_of(synced.asked.items, "fourth vote"), count_of(synced.asked.hits, "HIT")
            self.stdout.write(f"{votes} asked for, in {hits}.")
        if synced.asked.beyond_budget:
            undecided = count_of(synced.asked.beyond_budget, "item")
            self.stdout.write(f"{undecided} undecided: no budget for a fourth vote.")
        if collected.gone:
            gone = count_of(collected.gone, "HIT was", "HITs were")
            self.stdout.write(f"{gone} deleted on the marketplace; put_up_again puts their dialogs up again.")
        if synced.found_bonuses:
            found = count_of(synced.found_bonuses, "bonus was", "bonuses were")
            self.stdout.write(f"{found} given there by hand, and in the ledger now.")
        if synced.waiting.count:
            self.stdout.write(describe_waiting(synced.waiting))
        for trouble in troubles_of(synced):
            self.stdout.write(f"  {trouble}")
        if paid.stopped_by:
            raise CommandError(
                f"Paying stopped: {str(paid.stopped_by).rstrip('.')}. {money(owed_cents, currency)} are still owed; "
                "add funds and run the same command again."
            )


class _Bars:
    """A progress bar for each stage, shown from when the stage begins."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._bars:
            self._bars[stage] = self._progress.add_task(stage, total=total)
        self._progress.update(self._bars[stage], completed=done, total=total)
