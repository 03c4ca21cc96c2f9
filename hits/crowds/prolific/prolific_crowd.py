"""Describes Prolific as a crowd: what it can do, what it can't, and which of its environments this server may use."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from hits.crowds.abilities import Abilities, Environment, unmet_wishes
from hits.crowds.coming_and_going import CANT_TELL, HandBack, Held, Preview, Sites, Visit
from hits.crowds.fees import Fees
from hits.crowds.filter_lists import ListedFilter
from hits.crowds.noting import crowd_notes
from hits.crowds.prolific import prolific_arrival
from hits.crowds.prolific.option_checks import OPTIONS, option_problems
from hits.crowds.prolific.prolific_calls import ProlificCalls
from hits.crowds.prolific.prolific_client import ProlificClient
from hits.crowds.prolific.prolific_environments import ENVIRONMENTS, LOCAL, PRODUCTION, PROLIFIC
from hits.crowds.prolific.prolific_fees import ProlificFees
from hits.crowds.prolific.prolific_filters import read_filters
from hits.crowds.prolific.prolific_market import ProlificMarket, marks_of_hits
from hits.crowds.prolific.prolific_transport import open_transport, token_for
from hits.crowds.prolific.prolific_words import PROLIFICS_WORDS
from hits.crowds.prolific.quoting import minutes_there
from hits.crowds.prolific.rejection_rules import RULES
from hits.crowds.prolific.settling_study import CURRENCY, STUDY
from hits.crowds.prolific.subscribing import Subscriber
from hits.crowds.prolific.webhooks import read_hook
from hits.errors import DesignProblem
from hits.models import Assignment, Offering, Outcome
from hits.models.design import StudyDesign
from hits.models.money import money
from localprolific.openness import is_open as is_local_prolific_open
from localprolific.seeding import is_simulated_participant

LEAST_HOURLY_CENTS = {"GBP": 600, "USD": 800}  # Prolific's rule; publishing asks its API for the current ones
MOST_TITLE_LETTERS = 120
BONUSES_PER_LIST = 200
# A look at a page waits for no more than one more try.
ATTEMPTS_FOR_A_PAGE = 2
ATTEMPTS_FOR_A_COMMAND = 4


class Prolific:
    """Prolific as a `Crowd`."""

    name = PROLIFIC
    environments: Sequence[Environment] = ENVIRONMENTS
    abilities = Abilities(
        can_check_qualifications=False,
        can_keep_out=True,
        can_block=False,
        can_reopen=True,
        can_reject=True,
        can_pay_bonuses=True,
        is_bonus_repeatable=False,
        stores_reasons=False,
        overrides_rejections_for=timedelta(days=30),
        calls_at_once=1,  # Prolific answers 429 to calls that meet at the workspace's wallet
        sends_to_study=True,
        currencies=("GBP", "USD"),
        tells_returns=True,
        has_hooks=True,
        bonuses_per_list=BONUSES_PER_LIST,
        rejection=RULES,
        can_request_returns=True,
        quotes_costs=True,
    )
    fees: Fees = ProlificFees()
    words = PROLIFICS_WORDS
    options = OPTIONS
    hooks_signed_by = "PROLIFIC_HOOK_SECRET"

    def offered(self) -> Sequence[Environment]:
        return [one for one in ENVIRONMENTS if one.name == LOCAL or settings.PROLIFIC_ENVIRONMENT == PRODUCTION]

    def how_to_offer(self, environment: Environment) -> str:
        return (
            "This server is set to the local Prolific and changes nothing on the real one. To work there, set "
            "PROLIFIC_ENVIRONMENT=production and PROLIFIC_TOKEN in its environment."
        )

    def connect(self, offering: Offering, attempts: int) -> ProlificMarket:
        client = self._client(offering.environment, offering.currency, attempts)
        calls = ProlificCalls(client, offering.currency, offering.environment)
        return ProlificMarket(offering, calls, self.fees, _look_seconds(offering.environment))

    def _client(self, environment: str, currency: str, attempts: int) -> ProlificClient:
        pause = _look_seconds(environment) / 4
        return ProlificClient(open_transport(environment), token_for(environment, currency), attempts, pause)

    def unmet_wishes(self, design: StudyDesign) -> Iterator[DesignProblem]:
        yield from unmet_wishes(self.abilities, design)
        pay, minutes = design.pay, minutes_there(design)
        least = LEAST_HOURLY_CENTS.get(pay.currency, 0)
        if pay.reward_cents * 60 < least * minutes:
            needed = -(-least * minutes // 60)
            yield DesignProblem(
                "pay.reward",
                f"it wants at least {money(least, pay.currency)} an hour: for {minutes} minutes, set pay.reward to "
                f"{money(needed, pay.currency)} or more",
            )
        if len(design.task.title) > MOST_TITLE_LETTERS:
            yield DesignProblem(
                "task.title", f"it takes titles of up to {MOST_TITLE_LETTERS} letters: shorten task.title"
            )

    def option_problems(self, design: StudyDesign) -> Iterator[DesignProblem]:
        return option_problems(design)

    def filters_environment(self) -> str:
        return self.offered()[-1].name

    def list_filters(self, currency: str) -> Sequence[ListedFilter]:
        environment = self.filters_environment()
        client = self._client(environment, currency, ATTEMPTS_FOR_A_PAGE)
        return list(read_filters(ProlificCalls(client, currency, environment)))

    # --- Workers ---

    def arrival(self, request: HttpRequest) -> Visit | Preview | None:
        return prolific_arrival.arrival(request)

    def ask_holder(self, visit: Visit, offering: Offering) -> Held:
        notes = crowd_notes(offering)
        if not {STUDY, CURRENCY} <= notes.keys():
            return CANT_TELL
        client = self._client(visit.environment, notes[CURRENCY], ATTEMPTS_FOR_A_PAGE)
        return prolific_arrival.ask_holder(client, visit, notes[STUDY])

    def hand_back(self, assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
        return prolific_arrival.hand_back(assignment, code)

    def turn_away(self, visit: Visit, offering: Offering, outcome: Outcome) -> HandBack | None:
        return prolific_arrival.turn_away(offering, outcome)

    def read_hook(self, headers: Mapping[str, str], body: bytes, now: datetime) -> str:
        return read_hook(settings.PROLIFIC_HOOK_SECRET, headers, body, now)

    def hook_subscriber(self, environment: str, currency: str, address: str) -> Subscriber:
        client = self._client(environment, currency, ATTEMPTS_FOR_A_COMMAND)
        return Subscriber(ProlificCalls(client, currency, environment), address)

    def fields_of(self, answer: str) -> dict[str, str]:
        return {}

    def is_simulated(self, environment: str, worker_id: str) -> bool:
        """Ask the local Prolific, which gives out the ids."""
        return environment == LOCAL and is_simulated_participant(worker_id)

    def why_no_raters(self, environment: Environment) -> str:
        if environment.name == LOCAL:
            return "The local Prolific is a rehearsal: everyone may be any participant there."
        return "Participants from Prolific are raters anyway."

    def sites(self, request: HttpRequest) -> Sites:
        return Sites()

    def framing_site(self, environment: str) -> str:
        return ""

    def look_url(self, environment: str) -> str:
        if environment == LOCAL:
            return reverse("prolific") if is_local_prolific_open() else ""
        return f"{prolific_arrival.SITE}/researcher/home"

    def preview_url(self, page_url: str) -> str:
        return f"{page_url}?{prolific_arrival.LOOK}=1"

    # --- HITs ---

    def marks(self, offering: Offering, numbers: Sequence[int]) -> dict[str, int]:
        return marks_of_hits(numbers)

    def names_study(self, mark: str, offering: Offering) -> bool:
        return False


def _look_seconds(environment: str) -> float:
    """Return how long to wait until another look: the local Prolific needs no patience over a network."""
    return 0.5 if environment == LOCAL else 2.0
