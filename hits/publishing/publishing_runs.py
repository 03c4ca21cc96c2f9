"""Carries out publishing that pages request: refusals, progress, outcome; knows where a study was published last."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef, Subquery

from evalplatform.background_work import at_work
from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.budgeting import set_cap
from hits.crowds import Market, crowd_in
from hits.errors import MarketUnavailable
from hits.models import Event, Offering, Publication, PublishingRun, Study, offering_for, split_marketplace_name
from hits.publishing.creating import PublishingResult, publish_hits, settle_plan
from hits.publishing.page_check import check_worker_page
from hits.publishing.publishing_plan import check_budget, check_funds, plan_publishing, under_cap
from hits.publishing.stopping import stop_study

NEVER = datetime.min.replace(tzinfo=UTC)

Now = Callable[[], datetime]
EnterMarket = Callable[[Offering], tuple[Market, str]]  # returns a market, and the address of our page for its workers

FAILED = "Publishing failed. HITs that were published stay, and publishing again continues with the others."


@dataclass(frozen=True)
class RunCounts:
    """How many HITs a run has, and how many of them are published or refused."""

    total: int
    published: int
    refused: int

    @property
    def is_complete(self) -> bool:
        return 0 < self.total == self.published


def request_run(
    offering: Offering,
    most_hits: int | None,
    budget_cents: int | None,
    requested_by: User | None,
    now: datetime,
) -> PublishingRun:
    """Save a request to publish. What can't work is refused at once; balance and worker page are checked when it is
    carried out.

    `budget_cents` limits everything that spends there from now on; None removes an earlier budget.
    """
    plan = under_cap(plan_publishing(offering, most_hits), budget_cents)
    if not plan.hits:
        raise EvalPlatformError(
            f"All HITs of {offering.study} are published on the {offering.marketplace} marketplace already."
        )
    check_budget(plan)
    run = PublishingRun(
        offering=offering,
        most_hits=most_hits,
        requested_by=requested_by,
        requested_at=now,
    )
    try:
        with transaction.atomic():
            run.save()
            set_cap(offering, budget_cents, requested_by, now)
            text = f"asked for {count_of(len(plan.hits), 'HIT')} to be published on the {offering.marketplace} market"
            Event.objects.create(study=offering.study, at=now, actor=requested_by, text=text)
    except IntegrityError:
        raise EvalPlatformError(
            f"{offering.study} is being published on the {offering.marketplace} marketplace already."
        ) from None
    return run


def send_run(run: PublishingRun, send: Callable[[PublishingRun], None], now: datetime) -> None:
    """Send the task of a requested run. If the broker can't be reached, the run ends and says so."""
    PublishingRun.objects.filter(pk=run.pk).send_requested(lambda: send(run), now, run.requested_at)


def request_again(offering: Offering, send: Callable[[PublishingRun], None], now: datetime) -> None:
    """Send the unfinished run's task again if its process seems dead. If it lives after all, two do no harm."""
    run = offering.publishing_runs.under_way().first()
    if run is not None:
        PublishingRun.objects.filter(pk=run.pk).request_once(lambda: send(run), now)


def last_offering(study: Study, marketplaces: Collection[str]) -> Offering:
    """Return the offering that was published last, by a page or a command, or for which somebody last requested that,
    among these marketplaces. If nobody has: the first one of the crowd that the study is meant for.

    It takes one query, since every page of a study begins with it.
    """
    meant = [one for one in marketplaces if split_marketplace_name(one)[0] == crowd_in(study.design).name]
    first = next(iter(meant or marketplaces))
    newest = Publication.objects.filter(offering=OuterRef("pk")).order_by("-pk").values("intended_at")[:1]
    ours = Offering.objects.filter(study=study).annotate(
        last_run=Max("publishing_runs__requested_at"), last_hit=Subquery(newest)
    )
    last_times = {
        one: max(filter(None, (one.last_run, one.last_hit)), default=NEVER)
        for one in ours
        if one.marketplace in marketplaces
    }
    last = max(last_times, key=lambda one: (last_times[one], one.marketplace == first), default=None)
    if last is None or not (last_times[last] > NEVER or last.marketplace == first):
        return offering_for(study, first)
    last.study = study
    return last


def published_offerings(study: Study) -> list[Offering]:
    """Return the offerings of which a HIT was ever put on the market, in the order in which the study came there."""
    is_published = Exists(Publication.objects.confirmed().filter(offering=OuterRef("pk")))
    found = list(Offering.objects.filter(is_published, study=study).order_by("pk"))
    for one in found:
        one.study = study
    return found


def carry_out_run(run: PublishingRun, enter_market: EnterMarket, now: Now) -> None:
    """Resume where the last process stopped; do nothing if the run is finished.

    Raises MarketUnavailable, to be tried again later; any other trouble becomes the run's outcome. An error that nobody
    foresaw ends the run too, or no other could ever be requested, and is raised for the log.
    """
    row = PublishingRun.objects.filter(pk=run.pk)
    if not row.note_start(now(), outcome=""):
        return
    with at_work(row, now, FAILED, told_in="outcome", goes_on_after=MarketUnavailable) as outcome:
        try:
            market, page_url = enter_market(run.offering)
            outcome["outcome"] = _publish(run, market, page_url, now)
        except MarketUnavailable as unavailable:
            row.under_way().update(outcome=f"{str(unavailable).rstrip('.')}. We try again in a minute.", seen_at=now())
            raise


def finish_run(run: PublishingRun, outcome: str, now: datetime) -> None:
    """End the run with this outcome."""
    PublishingRun.objects.filter(pk=run.pk).note_end(now, outcome=outcome)


def count_run(run: PublishingRun) -> RunCounts:
    """Count the run's HITs."""
    return RunCounts(
        total=run.publications.count(),
        published=run.publications.confirmed().count(),
        refused=run.publications.refused().count(),
    )


def _publish(run: PublishingRun, market: Market, page_url: str, now: Now) -> str:
    plan = settle_plan(plan_publishing(run.offering, run.most_hits, run), market, now())
    check_funds(plan, market)
    check_worker_page(run.offering, page_url)
    stopped = PublishingRun.objects.filter(pk=run.pk).exclude(stop_requested_at=None)
    result = publish_hits(plan, market, page_url, now, goes_on=lambda: not stopped.exists())
    was_stopped = stopped.exists()
    if was_stopped:
        stop_study(run.offering, market, now)  # HITs that were published after somebody stopped the study
    elif isinstance(result.stopped_by, MarketUnavailable):
        raise result.stopped_by
    return _describe_outcome(run, result, plan.adopted_count + result.adopted, was_stopped)


def _describe_outcome(run: PublishingRun, result: PublishingResult, adopted: int, was_stopped: bool) -> str:
    counts = count_run(run)
    if counts.is_complete:
        outcome = "The HIT is published." if counts.total == 1 else f"All {counts.total:,} HITs are published."
    elif counts.total:
        outcome = f"{counts.published:,} of {count_of(counts.total, 'HIT is', 'HITs are')} published."
    else:
        outcome = "There was nothing left to publish."
    if adopted:
        outcome += f" {count_of(adopted, 'was', 'were')} found on the marketplace already."
    if was_stopped:
        return f"{outcome} It was stopped, and they are off the market."
    return " ".join([outcome, *result.troubles])
