"""Describes open links as a crowd: who may come, how they leave, and that this server pays nobody."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from evalplatform.environment import LOOPBACK
from hits.crowds.abilities import Abilities, Environment, unknown_options, unmet_wishes
from hits.crowds.coming_and_going import HandBack, Held, Preview, Sites, Visit, Way, Word
from hits.crowds.fees import Fees
from hits.crowds.link.credits import note_credit
from hits.crowds.link.entering import find_entrant
from hits.crowds.link.leaving import joining_path, way_out
from hits.crowds.link.link_environments import ENVIRONMENTS, LINK, LIVE, SIMULATED, TRIAL
from hits.crowds.link.link_market import LinkMarket
from hits.crowds.link.link_words import LINKS_WORDS
from hits.crowds.link.secret_links import invitation_of, personal_path
from hits.crowds.link.server_calls import intend_call
from hits.crowds.link.signed_visits import LOOK, arrival
from hits.crowds.link.taking_part import part_of
from hits.errors import DesignProblem
from hits.models import Assignment, Entrant, Invitation, Offering, OpenLink, Outcome
from hits.models.design import StudyDesign
from hits.models.money import SIGNS


class LinkFees(Fees):
    most_assignments = 90  # as many as a design may ask for

    def reward_fee_cents(self, reward_cents: int, assignments_per_hit: int) -> int:
        return 0

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        return 0


class Links:
    """Open links as a `Crowd`."""

    name = LINK
    environments: Sequence[Environment] = ENVIRONMENTS
    abilities = Abilities(
        can_check_qualifications=False,
        can_keep_out=True,
        can_block=False,
        can_reopen=True,
        can_reject=False,
        can_pay_bonuses=True,
        is_bonus_repeatable=True,
        stores_reasons=True,
        overrides_rejections_for=timedelta(),
        calls_at_once=1,
        sends_to_study=True,
        currencies=tuple(SIGNS),
        comes_by_links=True,
        pays_workers=False,
    )
    fees: Fees = LinkFees()
    words = LINKS_WORDS

    def offered(self) -> Sequence[Environment]:
        """Return the trial, and the live environment where people outside can open this server's address."""
        parts = urlsplit(settings.PUBLIC_URL)
        is_public = parts.scheme == "https" and (parts.hostname or "") not in LOOPBACK
        return [one for one in ENVIRONMENTS if is_public or one.name != LIVE]

    def how_to_offer(self, environment: Environment) -> str:
        return (
            f"PUBLIC_URL is {settings.PUBLIC_URL}, and people who get a link need a public HTTPS address of this "
            "server: set PUBLIC_URL=https://your.host in its environment."
        )

    def connect(self, offering: Offering, attempts: int) -> LinkMarket:
        numbers = list(offering.study.hits.values_list("number", flat=True))
        return LinkMarket(offering, self.marks(offering, numbers))

    def unmet_wishes(self, design: StudyDesign) -> Iterator[DesignProblem]:
        """Yield what can't be done by a link.

        Countries and approved work count only where the design is meant for a link. A study that is meant for another
        crowd may be tried among colleagues first, whom the researcher chooses by giving them the link.
        """
        for problem in unmet_wishes(self.abilities, design):
            if problem.field != "crowd.countries" or design.crowd.name == LINK:
                yield problem
        if design.pay.bonus_cents and not design.pay.reward_cents:
            yield DesignProblem("pay.bonus", "an unpaid study has no bonus: set pay.bonus = 0")

    def option_problems(self, design: StudyDesign) -> Iterator[DesignProblem]:
        return unknown_options(design, known=())

    # --- Workers ---

    def arrival(self, request: HttpRequest) -> Visit | Preview | None:
        return arrival(request)

    def ask_holder(self, visit: Visit, offering: Offering) -> Held:
        """Say that the visitor holds the assignment: we have signed the visit's address, so whoever has it is who it
        says. Opening it again holds begun work again, since nobody else keeps time for them."""
        return Held(Word.HOLDS, is_by_our_word=True)

    def hand_back(self, assignment: Assignment, submit_to: str, code: str, copy: Mapping[str, str]) -> HandBack:
        """Return how the worker leaves. `submit_to` is the session by which they came; of who was invited by name, the
        key of the link by which they came.

        The first session that hands the work in gets the credit for it. That, and the call to the service behind the
        link where there is one, is saved here, in the transaction that saves the submission. Who was invited by name
        goes back to their own page.
        """
        if (invitation := invitation_of(assignment.offering, assignment.crowd_worker_id)) is not None:
            return _to_own_page(invitation, submit_to) or HandBack(Way.CODE, code)
        entrant = find_entrant(assignment.offering_id, assignment.crowd_worker_id)
        if entrant is None:
            return HandBack(Way.CODE, code)
        link = entrant.link
        if note_credit(link, assignment, submit_to) != submit_to:
            return HandBack(Way.CODE, code)  # to somebody else's credit: their session and its code are not told
        if link.way == OpenLink.Way.CALL:
            intend_call(entrant, submit_to, assignment, timezone.now())
        out = way_out(link, Outcome.FINISHED, entrant.id_there, submit_to, code) or HandBack(Way.CODE, code)
        return HandBack(out.way, out.code, out.action, more_url=self._more_url(entrant, submit_to, assignment))

    def turn_away(self, visit: Visit, offering: Offering, outcome: Outcome) -> HandBack | None:
        if (invitation := invitation_of(offering, visit.worker_id)) is not None:
            return _to_own_page(invitation, visit.submit_to)
        entrant = find_entrant(offering.pk, visit.worker_id)
        return way_out(entrant.link, outcome, entrant.id_there, visit.submit_to) if entrant else None

    def _more_url(self, entrant: Entrant, session: str, assignment: Assignment) -> str:
        link = entrant.link
        can_return = entrant.id_there or not link.worker_parameter  # else only a hash of the id is left
        part = part_of(link.offering, assignment.crowd_worker_id, timezone.now())
        if not can_return or link.closed_at is not None or not part.has_more:
            return ""
        return joining_path(link, entrant.id_there, session)

    def fields_of(self, answer: str) -> dict[str, str]:
        return {}

    def is_simulated(self, environment: str, worker_id: str) -> bool:
        return environment == TRIAL and worker_id.startswith(f"{SIMULATED}_")

    def why_no_raters(self, environment: Environment) -> str:
        return (
            "The trial is a rehearsal. Offer the study on the live link when real raters are to come: its work counts."
            if environment.name == TRIAL
            else "Whoever comes by the live link is a rater anyway."
        )

    def sites(self, request: HttpRequest) -> Sites:
        return Sites()

    def framing_site(self, environment: str) -> str:
        return ""

    def look_url(self, environment: str) -> str:
        return ""

    def preview_url(self, page_url: str) -> str:
        return f"{page_url}?{LOOK}={LINK}"

    # --- HITs ---

    def marks(self, offering: Offering, numbers: Sequence[int]) -> dict[str, int]:
        return {f"task {number}": number for number in numbers}

    def names_study(self, mark: str, offering: Offering) -> bool:
        return False


def _to_own_page(invitation: Invitation, key: str) -> HandBack | None:
    """Return the way to a rater's own page; None if they came by an earlier link, whose key this is: the new one was
    given because somebody else may have the earlier one."""
    return HandBack(Way.REDIRECT, "", personal_path(invitation)) if key == invitation.key else None
