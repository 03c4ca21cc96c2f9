from decimal import Decimal, InvalidOperation
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from hits.designing.describing import describe_hourly_pay, dollars
from hits.designing.studies import get_study
from hits.management.study_command import StudyCommand, progress_bar
from hits.markets import check_is_allowed, open_market, worker_page_url
from hits.models import MarketEnvironment
from hits.publishing import PublishingPlan, check_funds, plan_publishing, publish_hits


class Command(StudyCommand):
    help = """Publishes a study's HITs: to the marketplace that runs here, to MTurk's sandbox, or for real.

    manage.py publish_hits demo
    manage.py publish_hits demo --environment sandbox --hits 10
    manage.py publish_hits demo --environment production --budget 1500

Shows the cost and the hourly pay first, and refuses above the budget or the account's balance. A run that was
interrupted is simply started again: each HIT is published exactly once. --hits publishes part now (a wave) and the
rest at a later run. Production needs MTURK_ENVIRONMENT=production and the study's name typed in, or --yes with a
budget."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        parser.add_argument("--environment", choices=MarketEnvironment.values, default=MarketEnvironment.LOCAL)
        parser.add_argument("--hits", type=int, metavar="N", help="publish at most N HITs now")
        parser.add_argument("--budget", metavar="DOLLARS", help="refuse if the study could cost more in all")
        parser.add_argument("--dry-run", action="store_true", help="only show what would happen and what it costs")
        parser.add_argument("--yes", action="store_true", help="don't ask; in production only together with --budget")

    def run(self, options: dict[str, Any]) -> None:
        study, environment = get_study(options["study"]), options["environment"]
        budget_cents = _cents(options["budget"])
        if options["hits"] is not None and options["hits"] < 1:
            raise CommandError("--hits must be at least 1.")
        check_is_allowed(environment)
        page_url = worker_page_url(environment)
        plan = plan_publishing(study, environment, options["hits"])
        for line in _describe(plan):
            self.stdout.write(line)
        if not plan.hits:
            return
        market = open_market(environment)
        check_funds(plan, market, budget_cents)
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing is published.")
            return
        self._confirm(plan, options, budget_cents)
        with progress_bar() as progress:
            bar = progress.add_task("Publishing", total=len(plan.hits))
            result = publish_hits(plan, market, page_url, timezone.now, lambda count: progress.advance(bar, count))
        self.stdout.write(
            f"{result.published:,} HITs published, {result.adopted:,} found there already, "
            f"{sum(result.refused.values()):,} refused."
        )
        for reason, count in result.refused.items():
            self.stdout.write(f"  {count:,} times: {reason}")
        if result.stopped_by:
            raise CommandError(f"Stopped: {result.stopped_by}. Run the same command again to go on.")
        self.stdout.write(f"Look at it: {settings.PUBLIC_URL}/studies/{study}/")

    def _confirm(self, plan: PublishingPlan, options: dict[str, Any], budget_cents: int | None) -> None:
        if plan.environment != MarketEnvironment.PRODUCTION:
            return
        if options["yes"]:
            if budget_cents is None:
                raise CommandError("--yes spends real money in production only together with --budget.")
            return
        if input(f"This spends real money. Type the study's name to publish it ({plan.study}): ") != plan.study.name:
            raise CommandError("That is not the study's name: nothing is published.")


def _describe(plan: PublishingPlan) -> list[str]:
    if not plan.hits:
        return [f"All HITs of {plan.study} are published on the {plan.environment} marketplace already."]
    spent = f", beside at most {dollars(plan.spent.total_cents)} before" if plan.spent.total_cents else ""
    return [
        f"{plan.study} on the {plan.environment} marketplace, wave {plan.wave}: {len(plan.hits):,} HITs, "
        f"{plan.cost.assignment_count:,} assignments, at most {dollars(plan.cost.total_cents)}{spent}.",
        f"{describe_hourly_pay(plan.design)}.",
    ]


def _cents(budget: str | None) -> int | None:
    if budget is None:
        return None
    try:
        return int(Decimal(budget) * 100)
    except (InvalidOperation, ValueError, OverflowError):
        raise CommandError(f"--budget is {budget!r}; write dollars, as 1500 or 99.50.") from None
