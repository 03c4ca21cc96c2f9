"""Mechanical Turk, and its emulation that runs here, behind the contract of a crowd. Only the endpoint differs."""

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.http import HttpRequest

from hits.crowds.contract import HandBack, Held, Prepared, Sites, Visit
from hits.crowds.fees import Fees
from hits.crowds.mturk.annotations import annotation_of, known_annotations, names_study, token_of
from hits.crowds.mturk.answer_xml import fields_of
from hits.crowds.mturk.arrival import NOT_AVAILABLE, WORKER_SITES, form_for, sites_of, visit_of
from hits.crowds.mturk.client import ENDPOINTS, MTurkMarket, boto_client
from hits.crowds.mturk.costs import MTurkFees
from hits.crowds.mturk.holding import ask_holder
from hits.crowds.mturk.qualifications import crowd_requirements
from hits.crowds.mturk.question import external_question
from hits.crowds.mturk.stop_qualification import find_stop_qualification, stop_qualification
from hits.crowds.mturk.types import HitTypeSpec, NewHit
from hits.models import MTURK, Assignment, MarketEnvironment, Offering
from hits.models.design import StudyDesign
from localturk import in_process


class MTurk:
    name = MTURK
    fees: Fees = MTurkFees()

    def connect(self, environment: str, attempts: int = 12) -> MTurkMarket:
        if environment != MarketEnvironment.LOCAL:
            client = boto_client(ENDPOINTS[environment], attempts=attempts)
        elif settings.MTURK_LOCAL_URL:
            client = boto_client(settings.MTURK_LOCAL_URL, has_own_credentials=False, attempts=attempts)
        else:
            client = boto_client("http://localturk.invalid", has_own_credentials=False, attempts=attempts)
            in_process.attach(client)
        return MTurkMarket(client, settings.MTURK_CALLS_PER_SECOND)

    # --- Workers ---

    def arrival(self, request: HttpRequest) -> Visit:
        return visit_of(request)

    def ask_holder(self, environment: str, hit_id: str, assignment_id: str, worker_id: str) -> Held:
        return ask_holder(environment, hit_id, assignment_id, worker_id)

    def hand_back(self, assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
        return form_for(assignment, submit_to, code, dict(copy))

    def fields_of(self, answer: str) -> dict[str, str]:
        return fields_of(answer)

    def sites(self, request: HttpRequest) -> Sites:
        return sites_of(request)

    def worker_site(self, environment: str) -> str:
        return WORKER_SITES.get(environment, "")

    def preview_url(self, page_url: str) -> str:
        return f"{page_url}?assignmentId={NOT_AVAILABLE}"

    # --- HITs ---

    def prepare(self, market: MTurkMarket, offering: Offering, known: str) -> Prepared:
        stop_id = known or find_stop_qualification(offering.study, market)
        return Prepared(market.create_hit_type(hit_type_of(offering.study.parsed_design, stop_id)), stop_id)

    def create_hit(
        self,
        market: MTurkMarket,
        prepared: Prepared,
        offering: Offering,
        page_url: str,
        number: int,
        places: int,
        round_: int,
    ) -> str:
        crowd = offering.study.parsed_design.crowd
        new = NewHit(
            hit_type_id=prepared.hit_type_id,
            question_xml=external_question(f"{page_url}/{offering.study.key}/{number}/", crowd.frame_height),
            max_assignments=places,
            lifetime_seconds=crowd.lifetime_days * 86_400,
            annotation=annotation_of(offering, number),
            token=token_of(offering, number, round_),
        )
        return market.create_hit(new)

    def marks(self, offering: Offering, numbers: Sequence[int]) -> dict[str, int]:
        return known_annotations(offering, numbers)

    def names_study(self, mark: str, offering: Offering) -> bool:
        return names_study(mark, offering.study)

    # --- Who gets no more of a study ---

    def keep_out(self, market: MTurkMarket, offering: Offering, worker_id: str) -> None:
        market.give_qualification(worker_id, stop_qualification(offering, market))

    def let_in(self, market: MTurkMarket, offering: Offering, worker_id: str, reason: str) -> None:
        market.take_qualification(worker_id, stop_qualification(offering, market), reason)


def hit_type_of(design: StudyDesign, stop_qualification_id: str = "") -> HitTypeSpec:
    """Not for workers who have the study's stop qualification: they have done enough, or were asked to stop."""
    crowd = design.crowd
    return HitTypeSpec(
        title=design.task.title,
        description=design.task.description,
        keywords=design.task.keywords,
        reward_cents=design.pay.reward_cents,
        assignment_duration_seconds=crowd.time_limit_minutes * 60,
        auto_approval_delay_seconds=crowd.auto_approval_days * 86_400,
        requirements=crowd_requirements(
            crowd.countries, crowd.min_approved, crowd.min_approval_percent, stop_qualification_id
        ),
    )
