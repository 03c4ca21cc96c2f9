"""Describes MTurk as a crowd: its abilities, which environments this server may use, where HITs can be seen.

The emulation that runs here is one of its environments; only the endpoint differs.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from hits.crowds.abilities import Abilities, Environment, unknown_options, unmet_wishes
from hits.crowds.coming_and_going import HandBack, Held, Preview, Sites, Visit
from hits.crowds.fees import Fees
from hits.crowds.mturk.annotations import known_annotations, names_study
from hits.crowds.mturk.answer_xml import fields_of
from hits.crowds.mturk.arrival import NOT_AVAILABLE, WORKER_SITES, arrival, hand_back, sites
from hits.crowds.mturk.client import ENDPOINTS, MTurkMarket, boto_client
from hits.crowds.mturk.costs import MTurkFees
from hits.crowds.mturk.holding import ask_holder
from hits.crowds.mturk.mturk_environments import END_OF_MTURK, ENVIRONMENTS, LOCAL, MTURK
from hits.crowds.mturk.mturk_words import MTURKS_WORDS
from hits.errors import DesignProblem
from hits.models import Assignment, Offering, Outcome
from hits.models.design import StudyDesign
from localturk import in_process
from localturk.openness import is_open as is_local_market_open
from localturk.seeding import is_simulated_worker


class MTurk:
    """Mechanical Turk as a `Crowd`."""

    name = MTURK
    environments: Sequence[Environment] = ENVIRONMENTS
    abilities = Abilities(
        can_check_qualifications=True,
        can_keep_out=True,
        can_block=True,
        can_reopen=True,
        can_reject=True,
        can_pay_bonuses=True,
        is_bonus_repeatable=True,
        stores_reasons=True,
        overrides_rejections_for=timedelta(days=31),  # MTurk allows 30 days to reverse a rejection; one more to be safe
        calls_at_once=16,
        is_framed=True,
    )
    fees: Fees = MTurkFees()
    words = MTURKS_WORDS

    def offered(self) -> Sequence[Environment]:
        """Return the environments up to the one that this server is set to."""
        names = [one.name for one in ENVIRONMENTS]
        return ENVIRONMENTS[: 1 + names.index(settings.MTURK_ENVIRONMENT)]

    def how_to_offer(self, environment: Environment) -> str:
        return (
            f"This server is set to the {settings.MTURK_ENVIRONMENT} marketplace and changes nothing on "
            f"{environment.name}. To work there, set MTURK_ENVIRONMENT={environment.name} in its environment."
        )

    def connect(self, offering: Offering, attempts: int = 12) -> MTurkMarket:
        return connect(offering.environment, attempts)

    def unmet_wishes(self, design: StudyDesign) -> Iterator[DesignProblem]:
        return unmet_wishes(self.abilities, design)

    def option_problems(self, design: StudyDesign) -> Iterator[DesignProblem]:
        return unknown_options(design, known=())

    # --- Workers: each in the file that its import names ---

    def arrival(self, request: HttpRequest) -> Visit | Preview | None:
        return arrival(request)

    def ask_holder(self, visit: Visit, offering: Offering) -> Held:
        return ask_holder(visit.environment, visit.hit_id, visit.assignment_id, visit.worker_id)

    def hand_back(self, assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
        return hand_back(assignment, submit_to, code, copy)

    def turn_away(self, visit: Visit, offering: Offering, outcome: Outcome) -> HandBack | None:
        """Send nobody back: MTurk has no code for it, and its own page has the button that returns a HIT."""
        return None

    def fields_of(self, answer: str) -> dict[str, str]:
        return fields_of(answer)

    def is_simulated(self, environment: str, worker_id: str) -> bool:
        """Ask the local marketplace, which gives out the ids. Amazon makes nobody up, whatever an id looks like."""
        return environment == LOCAL and is_simulated_worker(worker_id)

    def why_no_raters(self, environment: Environment) -> str:
        if environment.name != LOCAL:
            return f"{environment.label} says itself who works there."
        if not settings.MUST_WORKERS_SIGN_IN or not is_local_market_open() or settings.MTURK_LOCAL_URL:
            return (
                "People can be real raters only where they sign in as themselves: on this server's own marketplace, "
                "with SERVER_MODE=production and LOCAL_MARKET=true."
            )
        return ""

    def sites(self, request: HttpRequest) -> Sites:
        return sites(request)

    def framing_site(self, environment: str) -> str:
        """Return MTurk's own site. The local marketplace has none: it frames the page wherever it is open."""
        return WORKER_SITES.get(environment, "")

    def look_url(self, environment: str) -> str:
        """Return where to see the HITs. The local marketplace has pages only if it is open on this server."""
        if site := WORKER_SITES.get(environment):
            return site
        return reverse("market-hits") if is_local_market_open() else ""

    def preview_url(self, page_url: str) -> str:
        return f"{page_url}?assignmentId={NOT_AVAILABLE}"

    # --- HITs ---

    def marks(self, offering: Offering, numbers: Sequence[int]) -> dict[str, int]:
        return known_annotations(offering, numbers)

    def names_study(self, mark: str, offering: Offering) -> bool:
        return names_study(mark, offering.study)


def connect(environment: str = LOCAL, attempts: int = 12) -> MTurkMarket:
    """Open a connection without any check: to Amazon, to a local marketplace elsewhere, or to one in this process."""
    if environment != LOCAL:
        client = boto_client(ENDPOINTS[environment], attempts=attempts)
        return MTurkMarket(client, settings.MTURK_CALLS_PER_SECOND, END_OF_MTURK)
    if settings.MTURK_LOCAL_URL:
        client = boto_client(settings.MTURK_LOCAL_URL, has_own_credentials=False, attempts=attempts)
    else:
        client = boto_client("http://localturk.invalid", has_own_credentials=False, attempts=attempts)
        in_process.attach(client)
    return MTurkMarket(client, settings.MTURK_CALLS_PER_SECOND)
