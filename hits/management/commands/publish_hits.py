from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from evalplatform.terminal import progress_bar
from evalplatform.wording import count_of
from hits.budgeting import refuse_unseen_cap, set_cap, spending, typed_cap_cents
from hits.crowds import (
    check_may_change,
    enter_market,
    environment_of,
    has_real_raters,
    link_address,
    links_of,
)
from hits.management.study_command import StudyCommand
from hits.models import Event, Offering
from hits.models.money import cents_typed, money
from hits.publishing import (
    PublishingPlan,
    PublishingResult,
    check_funds,
    declare_raters,
    describe_plan,
    describe_quote,
    describe_unsettled,
    plan_publishing,
    publish_hits,
    settle_plan,
    under_cap,
)


class Command(StudyCommand):
    help = """Publishes a study's HITs: by a link, on Prolific, or on a marketplace such as Mechanical Turk.

    manage.py publish_hits demo --crowd link
    manage.py publish_hits demo --crowd link --environment live
    manage.py publish_hits demo --crowd prolific
    manage.py publish_hits demo --environment local

A link (docs/links.md) prints an address for whoever is to take part: trial rehearses, live is for real raters. Prolific
is docs/prolific.md. The marketplace that runs here is --environment local. Amazon announced the end of Mechanical Turk
for 30 September 2026; --environment sandbox and production still speak to its addresses, where nobody may answer.
Without --crowd and --environment, the study goes to the crowd that it is meant for, as a rehearsal.

Shows the cost and the hourly pay first, and refuses above the budget or the account's balance. A run that was
interrupted is simply started again: each HIT is published exactly once. --hits publishes part now (a wave) and the
rest at a later run. --budget holds from then on for everything that spends on that marketplace, replacements and
top-ups too, until another is given. Production needs MTURK_ENVIRONMENT=production and the study's name typed in, or
--yes with a budget. On the marketplace that runs here, --real-raters declares that people who sign in there are the
study's raters; without it, their work is a rehearsal (docs/marketplace.md)."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study")
        self.add_marketplace_arguments(parser)
        parser.add_argument("--hits", type=int, metavar="N", help="publish at most N HITs now")
        parser.add_argument(
            "--budget",
            metavar="AMOUNT",
            help="the budget there in all, from now on; the design's own holds for all offerings together",
        )
        parser.add_argument(
            "--real-raters",
            action="store_true",
            help="declare that people there are the study's raters from now on; else it is a rehearsal",
        )
        parser.add_argument(
            "--before-serving", action="store_true", help="the server starts later: don't ask whether it can be reached"
        )
        parser.add_argument("--dry-run", action="store_true", help="only show what would happen and what it costs")
        parser.add_argument("--yes", action="store_true", help="don't ask; in production only together with --budget")
        self.add_public_orders_argument(parser)

    def run(self, options: dict[str, Any]) -> None:
        offering = self.offering(options)
        if not environment_of(offering).runs_here:
            self.stdout.write(environment_of(offering).note)
        budget_cents = cents_typed(options["budget"], "--budget", offering.currency)
        standing_cents = typed_cap_cents(offering)
        if options["hits"] is not None and options["hits"] < 1:
            raise CommandError("--hits must be at least 1.")
        plan = plan_publishing(offering, options["hits"])
        if not plan.hits:
            self.stdout.write(
                f"All HITs of {offering.study} are published on the {offering.marketplace} marketplace already."
            )
            self._declare_raters(offering, options)
            self._keep_budget(offering, budget_cents, standing_cents, options)
            self._print_links(offering)
            return
        self.refuse_public_orders(offering.study, options)
        market, page_url = enter_market(offering)
        plan = settle_plan(plan, market, timezone.now())
        if budget_cents is not None:
            plan = under_cap(plan, budget_cents)
        for line in describe_plan(plan):
            self.stdout.write(line)
        if not environment_of(offering).runs_here:
            for line in describe_unsettled(offering):
                self.stdout.write(line)
        for line in describe_quote(plan, market):
            self.stdout.write(line)
        check_funds(plan, market)
        if not (options["before_serving"] and environment_of(offering).runs_here):
            self.check_worker_page(offering, page_url)
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing is published.")
            return
        self._confirm(plan, options, budget_cents)
        self._declare_raters(offering, options)
        self._keep_budget(offering, budget_cents, standing_cents, options)
        with progress_bar() as progress:
            bar = progress.add_task("Publishing", total=len(plan.hits))
            result = publish_hits(plan, market, page_url, timezone.now, lambda count: progress.advance(bar, count))
        text = f"published {count_of(result.published, 'HIT')} on the {offering.marketplace} market"
        Event.objects.create(study=offering.study, at=timezone.now(), actor=None, text=text)
        self._report(plan, result)

    def _declare_raters(self, offering: Offering, options: dict[str, Any]) -> None:
        if options["real_raters"] and not options["dry_run"]:
            check_may_change(offering)
            declare_raters(offering, None, timezone.now())
        if not has_real_raters(offering):
            self.stdout.write(
                "This is a rehearsal: what people do there is marked as rehearsed, and not for publication."
            )

    def _keep_budget(
        self, offering: Offering, cents: int | None, seen_cents: int | None, options: dict[str, Any]
    ) -> None:
        """Save the budget before anything is spent; without --budget, the one that was given before still holds. If
        somebody changed it while this command waited for an answer, that change is not overwritten unseen."""
        if cents is not None and not options["dry_run"]:
            check_may_change(offering)
            with spending(offering.study):
                refuse_unseen_cap(offering, seen_cents)
                set_cap(offering, cents, None, timezone.now())
            self.stdout.write(
                f"The budget on the {offering.marketplace} marketplace is {money(cents, offering.currency)} "
                "from now on."
            )

    def _report(self, plan: PublishingPlan, result: PublishingResult) -> None:
        self.stdout.write(
            f"{count_of(result.published, 'HIT')} published, "
            f"{plan.adopted_count + result.adopted:,} found there already, {sum(result.refused.values()):,} refused."
        )
        self.tell(result)
        self._print_links(plan.offering)
        self.stdout.write(f"Look at it: {settings.PUBLIC_URL}/studies/{plan.offering.study}/")

    def _print_links(self, offering: Offering) -> None:
        for link in links_of(offering):
            self.stdout.write(f"{link.label}, for whoever is to take part: {link_address(link)}")

    def _confirm(self, plan: PublishingPlan, options: dict[str, Any], budget_cents: int | None) -> None:
        if not environment_of(plan.offering).is_real_money or not plan.hits:
            return
        if options["yes"]:
            if budget_cents is None:
                raise CommandError("--yes spends real money in production only together with --budget.")
            return
        if (
            input(f"This spends real money. Type the study's name to publish it ({plan.offering.study}): ")
            != plan.offering.study.name
        ):
            raise CommandError("That is not the study's name: nothing is published.")
