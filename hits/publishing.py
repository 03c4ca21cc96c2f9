"""Room 3: a frozen study's HITs -> the marketplace.

In: HITs that are not published yet, a market, a budget. Out: each HIT exactly once on the marketplace, and its id here.
Guaranteed: intent is saved before each call and the outcome after it, so that a run which is killed at any point and
started again, within or after the token's 24 hours, loses no HIT and doubles none; and nothing is published above the
budget or the account's balance.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction

from evalplatform.errors import EvalPlatformError
from hits.designing.describing import dollars
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Hit, Publication, Study
from hits.models.design import StudyDesign
from hits.mturk.client import INSUFFICIENT_FUNDS, Market
from hits.mturk.costs import Cost, worst_case_cost
from hits.mturk.qualifications import crowd_requirements
from hits.mturk.question import external_question
from hits.mturk.types import HitTypeSpec, NewHit

THREADS = 16

OnProgress = Callable[[int], None]


@dataclass
class PublishingPlan:
    """What a run would do: shown to the researcher before anything is spent."""

    study: Study
    design: StudyDesign
    environment: str
    hits: list[Hit]
    cost: Cost  # of these HITs, at most
    spent: Cost  # of those that are published already, at most
    wave: int


@dataclass
class PublishingResult:
    published: int = 0
    adopted: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    stopped_by: str = ""


def plan_publishing(study: Study, environment: str, most_hits: int | None = None) -> PublishingPlan:
    """The HITs that are still to be published, in order, with those of an interrupted run first."""
    if not study.is_frozen:
        raise EvalPlatformError(f"{study} has no HITs yet: build them first with `manage.py build_hits {study}`.")
    design = StudyDesign.model_validate(study.design)
    published = Publication.objects.filter(hit__study=study, environment=environment)
    done = study.hits.filter(publications__in=published.confirmed())
    begun = study.hits.filter(publications__in=published.unconfirmed())
    fresh = study.hits.exclude(publications__in=published)
    hits = list(islice([*begun, *fresh], most_hits))
    last_wave = max(published.confirmed().values_list("wave", flat=True), default=0)
    return PublishingPlan(
        study, design, environment, hits, _cost(design, hits), _cost(design, done), wave=last_wave + 1
    )


def check_funds(plan: PublishingPlan, market: Market, budget_cents: int | None) -> None:
    """Raises when the budget or the balance does not cover the worst case."""
    total = plan.cost.total_cents + plan.spent.total_cents
    limits = [("the given budget", budget_cents), ("the study's budget", plan.design.pay.budget_cents)]
    for name, limit in limits:
        if limit is not None and total > limit:
            raise EvalPlatformError(
                f"Publishing {len(plan.hits):,} HITs would bring the study to at most {dollars(total)}, above {name} "
                f"of {dollars(limit)}. Publish fewer with --hits, or raise the budget."
            )
    balance = market.balance_cents()
    if plan.cost.total_cents > balance:
        raise EvalPlatformError(
            f"These HITs cost at most {dollars(plan.cost.total_cents)}, and the account holds {dollars(balance)}. "
            "Publish fewer with --hits, or add funds."
        )


def publish_hits(
    plan: PublishingPlan,
    market: Market,
    page_url: str,
    now: Callable[[], datetime],
    on_progress: OnProgress = lambda count: None,
    threads: int = THREADS,
) -> PublishingResult:
    """Publishes what the plan names. Whatever is on the marketplace already is adopted first."""
    result = PublishingResult()
    result.adopted = adopt_orphans(plan.study, plan.environment, market, now())
    waiting = _save_intents(plan, now())
    on_progress(len(plan.hits) - len(waiting))
    if not waiting:
        return result
    hit_type_id = market.create_hit_type(hit_type_of(plan.design))
    requests = {one.pk: _new_hit(plan, one, hit_type_id, page_url) for one in waiting}
    for publication, outcome in _call_in_threads(waiting, lambda one: market.create_hit(requests[one.pk]), threads):
        _save_outcome(publication, outcome, now(), result)
        on_progress(1)
        if result.stopped_by:
            break
    return result


def adopt_orphans(study: Study, environment: str, market: Market, now: datetime) -> int:
    """Finds HITs of this study that stand on the marketplace without our knowing their ids, and notes them.

    By our own id in the annotation, since a token is forgotten after 24 hours. HITs of other projects are left alone.
    """
    known = set(
        Publication.objects.filter(hit__study=study, environment=environment)
        .confirmed()
        .values_list("hit__number", flat=True)
    )
    numbers = {annotation_of(study, number): number for number in study.hits.values_list("number", flat=True)}
    adopted = 0
    for found in market.list_hits():
        number = numbers.get(found.annotation)
        if number is None or number in known or found.status == "Disposed":
            continue
        _confirm(study.hits.get(number=number), environment, found.mturk_hit_id, now)
        known.add(number)
        adopted += 1
    return adopted


def stop_study(study: Study, environment: str, market: Market, now: Callable[[], datetime]) -> int:
    """Takes every open HIT off the market at once. Workers who hold an assignment may still submit it."""
    stopped = 0
    for publication in Publication.objects.filter(hit__study=study, environment=environment).open():
        market.expire_hit(publication.mturk_hit_id)
        Publication.objects.filter(pk=publication.pk).update(stopped_at=now())
        stopped += 1
    return stopped


def resume_study(study: Study, environment: str, market: Market, now: Callable[[], datetime]) -> int:
    """Puts stopped HITs on offer again, for the study's lifetime from now on."""
    lifetime = timedelta(days=StudyDesign.model_validate(study.design).crowd.lifetime_days)
    resumed = 0
    publications = Publication.objects.filter(hit__study=study, environment=environment).confirmed()
    for publication in publications.exclude(stopped_at=None):
        market.extend_hit(publication.mturk_hit_id, now() + lifetime)
        Publication.objects.filter(pk=publication.pk).update(stopped_at=None)
        resumed += 1
    return resumed


def annotation_of(study: Study, hit_number: int) -> str:
    return f"evalplatform {study.key} {hit_number}"


def token_of(study: Study, hit_number: int) -> str:
    """Of at most 64 characters. The environment is not in it: each has tokens of its own."""
    return f"{study.key.hex}-{hit_number}"


def hit_type_of(design: StudyDesign) -> HitTypeSpec:
    crowd = design.crowd
    return HitTypeSpec(
        title=design.task.title,
        description=design.task.description,
        keywords=design.task.keywords,
        reward_cents=design.pay.reward_cents,
        assignment_duration_seconds=crowd.time_limit_minutes * 60,
        auto_approval_delay_seconds=crowd.auto_approval_days * 86_400,
        requirements=crowd_requirements(crowd.countries, crowd.min_approved, crowd.min_approval_percent),
    )


# --- Intent, call, outcome -------------------------------------------------------------------------------------------


@transaction.atomic
def _save_intents(plan: PublishingPlan, now: datetime) -> list[Publication]:
    """Returns the publications that are not confirmed yet. Two runs at once make one row a HIT."""
    Publication.objects.bulk_create(
        [Publication(hit=hit, environment=plan.environment, wave=plan.wave, intended_at=now) for hit in plan.hits],
        ignore_conflicts=True,
    )
    intended = Publication.objects.filter(hit__in=plan.hits, environment=plan.environment)
    return list(intended.unconfirmed().select_related("hit").order_by("hit__number"))


def _new_hit(plan: PublishingPlan, publication: Publication, hit_type_id: str, page_url: str) -> NewHit:
    number = publication.hit.number
    return NewHit(
        hit_type_id=hit_type_id,
        question_xml=external_question(f"{page_url}/{plan.study.key}/{number}/", plan.design.crowd.frame_height),
        max_assignments=publication.hit.assignments,
        lifetime_seconds=plan.design.crowd.lifetime_days * 86_400,
        annotation=annotation_of(plan.study, number),
        token=token_of(plan.study, number),
    )


def _call_in_threads(
    publications: Sequence[Publication], create: Callable[[Publication], str], threads: int
) -> Iterator[tuple[Publication, "Future[str]"]]:
    """Threads only talk to the marketplace; outcomes are saved by the caller, in one thread and one connection."""
    waiting = iter(publications)
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(create, one): one for one in islice(waiting, threads)}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future
                running |= {pool.submit(create, one): one for one in islice(waiting, len(done))}
        finally:
            # The caller has stopped early: what is on its way still counts, and is adopted by the next run.
            pool.shutdown(wait=True, cancel_futures=True)


def _save_outcome(publication: Publication, outcome: "Future[str]", now: datetime, result: PublishingResult) -> None:
    try:
        mturk_hit_id = outcome.result()
    except MarketRefused as refused:
        Publication.objects.filter(pk=publication.pk).update(refusal=str(refused))
        result.refused[str(refused)] = result.refused.get(str(refused), 0) + 1
        if refused.code == INSUFFICIENT_FUNDS:
            result.stopped_by = str(refused)
    except MarketUnavailable as unavailable:
        result.stopped_by = str(unavailable)
    else:
        _confirm(publication.hit, publication.environment, mturk_hit_id, now)
        result.published += 1


def _confirm(hit: Hit, environment: str, mturk_hit_id: str, now: datetime) -> None:
    Publication.objects.update_or_create(
        hit=hit,
        environment=environment,
        defaults={"mturk_hit_id": mturk_hit_id, "published_at": now, "refusal": ""},
        create_defaults={
            "mturk_hit_id": mturk_hit_id,
            "published_at": now,
            "intended_at": now,
        },
    )


def _cost(design: StudyDesign, hits: Iterable[Hit]) -> Cost:
    counts: dict[int, int] = {}
    for hit in hits:
        counts[hit.assignments] = counts.get(hit.assignments, 0) + 1
    return worst_case_cost(design.pay.reward_cents, design.pay.bonus_cents, counts)
