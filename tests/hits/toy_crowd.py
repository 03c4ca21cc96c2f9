"""A whole crowd in one file, as unlike MTurk as it gets.

A panel sends participants by links with PARTICIPANT_ID and SESSION; they hand in by typing a code; a bonus that is
asked for twice is paid twice. It checks no qualifications, keeps nobody out, takes no rejections, and puts nothing back
on offer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest

from hits.crowds import CrowdWords, Held, HitToOffer, MarketAssignment, MarketBonus, MarketHit, Preview, Visit
from hits.crowds.abilities import Abilities, Environment, unknown_options, unmet_wishes
from hits.crowds.coming_and_going import CANT_TELL, HandBack, Sites, Way
from hits.crowds.fees import Fees
from hits.errors import DesignProblem, MarketRefused, MarketUnavailable
from hits.models import Assignment, Offering, Outcome, Submission
from hits.models.design import StudyDesign
from hits.models.money import money
from hits.protocols import OwnSetting

Status = Submission.Status
LOWEST_REWARD_CENTS = 5

PANEL = Environment(
    name="panel",
    label="Toy panel",
    described="a panel of toys",
    note="Toys work here, and no money moves.",
    publish_words="to the panel",
    runs_here=True,
    has_real_raters=True,
)

WORDS = CrowdWords(
    hit="task",
    hits="tasks",
    marketplace="the panel",
    worker="participant",
    requester="A research project, named in the invitation",
    accept_first="Follow your own link to begin.",
    asked_later="You are asked whether you agree when you begin.",
    open_it="Please follow the link in your invitation.",
    return_it="Please close this page; nothing counts against you.",
    declined="Please close this page: nothing counts against you.",
    write_or_return="answer to the invitation, or close this page: nothing counts against you.",
    points_later="Your bonus points are counted when you have entered your code.",
    approved_by_itself="then it counts as approved",
    approved_at_once="at once",
    handing_over="They are saved with us. Enter this code on the panel, and you are done.",
    hand_over_again="They are saved with us. If you have not entered the code on the panel yet, please do.",
    hand_over_button="Copy the code",
    code_hint="The panel asks for it. Without it, nobody knows that you are done.",
)


class ToyFees(Fees):
    most_assignments = 9

    def reward_fee_cents(self, reward_cents: int, assignments_per_hit: int) -> int:
        return reward_cents // 10

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        return bonus_cents // 10


@dataclass
class Session:
    participant: str
    begun_at: datetime
    code: str = ""
    is_approved: bool = False


@dataclass
class Panel:
    """The outside world: what the panel itself knows."""

    sessions: dict[str, Session] = field(default_factory=dict)
    hits: dict[str, HitToOffer] = field(default_factory=dict)
    expired: set[str] = field(default_factory=set)
    places: int = 0
    bonuses: list[MarketBonus] = field(default_factory=list)
    loses_answers: bool = False  # of bonuses that it pays
    refuses_bonuses: bool = False
    list_error: MarketRefused | MarketUnavailable | None = None  # what a look at the list of bonuses meets

    def begin(self, participant: str, session: str) -> None:
        self.sessions[session] = Session(participant, datetime.now(UTC) - timedelta(minutes=15))

    def enter_code(self, session: str, code: str) -> None:
        self.sessions[session].code = code


class ToyMarket:
    def __init__(self, panel: Panel, offering: Offering) -> None:
        self._panel, self._offering = panel, offering

    def balance_cents(self) -> int:
        return 1_000_00

    def prepare(self, offering: Offering, notes: Mapping[str, str]) -> Mapping[str, str]:
        return {"list": notes.get("list") or f"list of {offering.study.key}"}

    def offer_hit(self, offering: Offering, notes: Mapping[str, str], new: HitToOffer) -> str:
        crowd_hit_id = f"toy-{new.number}-{new.round}"
        self._panel.hits[crowd_hit_id] = new
        return crowd_hit_id

    def settle_offering(
        self, offering: Offering, notes: Mapping[str, str], address: str, places: int, is_on_offer: bool
    ) -> Mapping[str, str]:
        """The panel knows one number of places for the whole study: set, and never added to."""
        self._panel.places = places if is_on_offer else 0
        return notes

    def get_hit(self, crowd_hit_id: str) -> MarketHit:
        done = list(self.list_assignments(crowd_hit_id))
        new = self._panel.hits[crowd_hit_id]
        return MarketHit(
            crowd_hit_id=crowd_hit_id,
            mark=f"toy {new.number}",
            is_open=crowd_hit_id not in self._panel.expired,
            is_deleted=False,
            max_assignments=new.places,
            expires_at=datetime.now(UTC) + timedelta(days=7),
            pending_count=0,
            available_count=new.places - len(done),
            completed_count=sum(one.status == Status.APPROVED for one in done),
        )

    def list_hits(self) -> Iterator[MarketHit]:
        return (self.get_hit(one) for one in self._panel.hits)

    def expire_hit(self, crowd_hit_id: str) -> None:
        self._panel.expired.add(crowd_hit_id)

    def extend_hit(self, crowd_hit_id: str, expires_at: datetime) -> None:
        raise MarketRefused("toy", "What is over is over.")

    def add_assignments(self, crowd_hit_id: str, count: int, token: str) -> None:
        raise MarketRefused("toy", "There are as many as there are.")

    def list_assignments(self, crowd_hit_id: str) -> Iterator[MarketAssignment]:
        """The panel has only sessions. Which HIT each was given, our own rows say."""
        ours = Assignment.objects.filter(offering=self._offering, hit__publications__crowd_hit_id=crowd_hit_id)
        known = {one.crowd_assignment_id for one in ours.filter(hit__publications__offering=self._offering)}
        return (
            self._assignment(key, crowd_hit_id)
            for key, one in self._panel.sessions.items()
            if one.code and key in known
        )

    def get_assignment(self, crowd_assignment_id: str) -> MarketAssignment:
        return self._assignment(crowd_assignment_id, "")

    def _assignment(self, key: str, crowd_hit_id: str) -> MarketAssignment:
        session = self._panel.sessions[key]
        return MarketAssignment(
            crowd_assignment_id=key,
            crowd_hit_id=crowd_hit_id,
            crowd_worker_id=session.participant,
            status=Status.APPROVED if session.is_approved else Status.SUBMITTED,
            accepted_at=session.begun_at,
            submitted_at=datetime.now(UTC),
            auto_approval_at=None,
            answer="",
        )

    def approve(self, crowd_assignment_id: str, feedback: str = "") -> None:
        self._panel.sessions[crowd_assignment_id].is_approved = True

    def reject(self, crowd_assignment_id: str, reason: str, category: str = "") -> None:
        raise MarketRefused("toy", "Nobody is rejected here.")

    def send_bonus(self, worker_id: str, assignment_id: str, cents: int, reason: str, token: str) -> None:
        if self._panel.refuses_bonuses:
            raise MarketRefused("toy", "No bonus today.")
        self._panel.bonuses.append(MarketBonus(worker_id, assignment_id, cents, "", datetime.now(UTC)))
        if self._panel.loses_answers:
            raise MarketUnavailable("The panel did not answer.")

    def list_bonuses_of_hit(self, crowd_hit_id: str) -> Iterator[MarketBonus]:
        if self._panel.list_error is not None:
            raise self._panel.list_error
        if self._panel.loses_answers:  # it takes the panel a while until it shows a bonus
            return iter([])
        of_hit = Assignment.objects.filter(offering=self._offering, hit__publications__crowd_hit_id=crowd_hit_id)
        ours = set(of_hit.values_list("crowd_assignment_id", flat=True))
        return iter([one for one in self._panel.bonuses if one.crowd_assignment_id in ours])

    def keep_out(self, offering: Offering, worker_id: str) -> None:
        raise MarketRefused("toy", "Everyone may come.")

    def let_in(self, offering: Offering, worker_id: str, reason: str) -> None:
        raise MarketRefused("toy", "Everyone may come.")

    def block_worker(self, worker_id: str, reason: str) -> None:
        raise MarketRefused("toy", "Everyone may come.")

    def unblock_worker(self, worker_id: str, reason: str) -> None:
        raise MarketRefused("toy", "Everyone may come.")


class ToyCrowd:
    name = "toy"
    environments: Sequence[Environment] = (PANEL,)
    abilities = Abilities(
        can_check_qualifications=False,
        can_keep_out=False,
        can_block=False,
        can_reopen=False,
        can_reject=False,
        can_pay_bonuses=True,
        is_bonus_repeatable=False,
        stores_reasons=False,
        overrides_rejections_for=timedelta(),
        calls_at_once=1,
        currencies=("USD", "GBP"),
    )
    options: Sequence[OwnSetting] = (OwnSetting("ages", "Ages", "words", "as 18-25, 26-40"),)
    fees: Fees = ToyFees()
    words = WORDS

    def __init__(self) -> None:
        self.panel = Panel()

    def offered(self) -> Sequence[Environment]:
        return self.environments

    def how_to_offer(self, environment: Environment) -> str:
        return "The panel is always open."

    def connect(self, offering: Offering, attempts: int) -> ToyMarket:
        return ToyMarket(self.panel, offering)

    def unmet_wishes(self, design: StudyDesign) -> Iterator[DesignProblem]:
        yield from unmet_wishes(self.abilities, design)
        if design.pay.reward_cents < LOWEST_REWARD_CENTS:
            lowest = money(LOWEST_REWARD_CENTS, design.pay.currency)
            yield DesignProblem("pay.reward", f"it takes no reward below {lowest}: set pay.reward to that or more")

    def option_problems(self, design: StudyDesign) -> Iterator[DesignProblem]:
        yield from unknown_options(design, known=["ages"])

    def arrival(self, request: HttpRequest) -> Visit | Preview | None:
        if "TOY_PREVIEW" in request.GET:
            return Preview(self.name)
        participant, session = request.GET.get("PARTICIPANT_ID", ""), request.GET.get("SESSION", "")
        if not participant:
            return None
        is_known = session in self.panel.sessions and self.panel.sessions[session].participant == participant
        return Visit(self.name, PANEL.name if is_known else "", session, participant)

    def ask_holder(self, visit: Visit, offering: Offering) -> Held:
        return CANT_TELL

    def hand_back(self, assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
        return HandBack(Way.CODE, code)

    def turn_away(self, visit: Visit, offering: Offering, outcome: Outcome) -> HandBack | None:
        return None

    def fields_of(self, answer: str) -> dict[str, str]:
        return {}

    def is_simulated(self, environment: str, worker_id: str) -> bool:
        return False

    def why_no_raters(self, environment: Environment) -> str:
        return "Participants of the panel are raters anyway."

    def sites(self, request: HttpRequest) -> Sites:
        return Sites()

    def framing_site(self, environment: str) -> str:
        return ""

    def look_url(self, environment: str) -> str:
        return ""

    def preview_url(self, page_url: str) -> str:
        return f"{page_url}?TOY_PREVIEW=1"

    def marks(self, offering: Offering, numbers: Sequence[int]) -> dict[str, int]:
        return {f"toy {number}": number for number in numbers}

    def names_study(self, mark: str, offering: Offering) -> bool:
        return False
