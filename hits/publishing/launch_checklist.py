"""Lists what a researcher should settle before real people see a study: pay, consent, contact, a pilot, screening.

In: an offering. Out: a line for each point, with what is settled or what to do. Guaranteed: `launch_checks` reads our
own rows only, so that a page can show it; `outside_checks` also asks the crowd for the balance and what it says that
the next HITs cost, and opens the workers' page as a browser would.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from django.db.models import Count

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.crowds import (
    Market,
    QuotesCosts,
    crowd_of,
    environment_of,
    link_address,
    links_of,
    open_crowd,
    worker_page_url,
)
from hits.designing import CONSENT, CONTACT, describe_hourly_pay, hourly_pay_cents, usual_texts
from hits.models import Offering, Submission
from hits.models.design import StudyDesign
from hits.models.money import money
from hits.publishing.page_check import check_worker_page
from hits.publishing.publishing_plan import PublishingPlan, check_funds, plan_publishing

ATTEMPTS_WHILE_SOMEONE_WAITS = 2
PAY, COST = "Pay", "Cost there"


@dataclass(frozen=True)
class LaunchCheck:
    """One point of the list. What is not settled is advice: nothing but the budget and the address stops a study."""

    name: str
    is_settled: bool
    words: str


def launch_checks(offering: Offering) -> list[LaunchCheck]:
    """Return the points that our own rows can tell about."""
    design = offering.study.parsed_design
    return [_pay(offering), _consent(design), _contact(design), _pilot(offering), _screening(design)]


def outside_checks(offering: Offering) -> Iterator[LaunchCheck]:
    """Yield what only a look outside can tell: whether the account covers the next HITs, and whether workers can reach
    the page. Each may take seconds."""
    yield _look("Balance", lambda: _ask_balance(offering))
    yield from quote_checks(offering)
    yield _look("Address", lambda: _ask_address(offering))


def quote_checks(offering: Offering, most_hits: int | None = None) -> Iterator[LaunchCheck]:
    """Yield what the crowd's own calculator says of the next HITs, if it has one. It may take seconds."""
    if crowd_of(offering).abilities.quotes_costs:
        yield _look(COST, lambda: _ask_quote(offering, most_hits))


def describe_quote(plan: PublishingPlan, market: Market) -> Iterator[str]:
    """Yield for a terminal what the crowd's own calculator says of the plan, if it has one."""
    if crowd_of(plan.offering).abilities.quotes_costs and plan.hits:
        quote = cast(QuotesCosts, market).quote(plan.design, plan.cost.assignment_count)
        yield quote.problem or f"{quote.words} {_bonuses(plan)}"


def describe_unsettled(offering: Offering) -> Iterator[str]:
    """Yield a line for a terminal for each point that is not settled. (What the reward pays is said there anyway.)"""
    for check in launch_checks(offering):
        if not check.is_settled and check.name != PAY:
            yield f"Before people see it, look at {check.name.lower()}: {check.words}"


# --- What our own rows tell ------------------------------------------------------------------------------------------


def _pay(offering: Offering) -> LaunchCheck:
    design = offering.study.parsed_design
    if not design.pay.reward_cents and not design.pay.minimum_hourly_cents:
        return LaunchCheck(PAY, True, "The study is unpaid, and people read that before they agree.")
    is_fair = hourly_pay_cents(design) >= design.pay.minimum_hourly_cents
    words = f"{describe_hourly_pay(design)}."
    if design.pay.reward_cents and not crowd_of(offering).abilities.pays_workers:
        words += " No money goes through it: people read that whoever invited them pays, so say how you will."
    return LaunchCheck(PAY, is_fair, words)


def _consent(design: StudyDesign) -> LaunchCheck:
    return _own_text(design, CONSENT, "The study has a text of its own, to which each worker agrees.")


def _contact(design: StudyDesign) -> LaunchCheck:
    return _own_text(design, CONTACT, f"Workers read that {design.task.requester} asks them, and how to reach you.")


def _own_text(design: StudyDesign, about: str, settled: str) -> LaunchCheck:
    missing = usual_texts(design).get(about)
    return LaunchCheck(about, missing is None, missing or settled)


def _pilot(offering: Offering) -> LaunchCheck:
    """Whatever was collected before counts, here or on another crowd: colleagues on a link are a good pilot."""
    study = Submission.objects.filter(assignment__offering__study=offering.study).order_by()
    counts = dict(study.values_list("origin").annotate(Count("pk")))
    by_hand = counts.get(Submission.Origin.PEOPLE, 0) + counts.get(Submission.Origin.REHEARSAL, 0)
    if by_hand:
        return LaunchCheck("Pilot", True, f"People have worked on {count_of(by_hand, 'HIT')} of it already.")
    if simulated := counts.get(Submission.Origin.SIMULATION, 0):
        words = f"Only a simulated crowd has tried it ({count_of(simulated, 'HIT')}). Let a colleague do a HIT first."
        return LaunchCheck("Pilot", False, words)
    return LaunchCheck("Pilot", False, "Nobody has tried it yet. Let a colleague do a HIT first, and read the answers.")


def _screening(design: StudyDesign) -> LaunchCheck:
    if not design.screening:
        words = "No rule is named, so all work counts. A rule that is chosen after the answers came is hard to defend."
        return LaunchCheck("Screening", False, words)
    return LaunchCheck("Screening", True, f"{count_of(len(design.screening), 'rule')} named before anybody rates.")


# --- What a look outside tells ---------------------------------------------------------------------------------------


def _look(name: str, ask: Callable[[], str]) -> LaunchCheck:
    try:
        return LaunchCheck(name, True, ask())
    except EvalPlatformError as error:
        return LaunchCheck(name, False, str(error))


def _ask_balance(offering: Offering) -> str:
    plan = plan_publishing(offering)
    market = open_crowd(offering, ATTEMPTS_WHILE_SOMEONE_WAITS)
    check_funds(plan, market)
    most = money(plan.cost.total_cents, offering.currency)
    if not crowd_of(offering).abilities.pays_workers:
        is_paid = bool(offering.study.parsed_design.pay.reward_cents)
        due = f": for all HITs that are left, at most {most} becomes due, which you pay elsewhere" if is_paid else ""
        return f"There is no account{due}."
    if not environment_of(offering).is_real_money:
        return "No money moves there."
    return f"The account covers all HITs that are left, at most {most}."


def _ask_quote(offering: Offering, most_hits: int | None) -> str:
    plan = plan_publishing(offering, most_hits)
    if not plan.hits:
        return "There is nothing left to publish."
    market = cast(QuotesCosts, open_crowd(offering, ATTEMPTS_WHILE_SOMEONE_WAITS))
    quote = market.quote(plan.design, plan.cost.assignment_count)
    if quote.problem:
        raise EvalPlatformError(quote.problem)
    return f"{quote.words} {_bonuses(plan)}"


def _bonuses(plan: PublishingPlan) -> str:
    cents = plan.cost.bonus_cents + plan.cost.bonus_fee_cents
    return f"Bonuses of at most {money(cents, plan.design.pay.currency)} come on top." if cents else ""


def _ask_address(offering: Offering) -> str:
    page_url = worker_page_url(offering)
    check_worker_page(offering, page_url)
    if links := links_of(offering):
        return f"People can come by {' and '.join(link_address(one) for one in links[:3])}."
    return f"Workers can open their page at {page_url}."
