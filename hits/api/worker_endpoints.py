"""Receives what the worker's page saves, checks and submits; limits calls a minute, and chooses HTTP statuses."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, TypeVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from pydantic import ValidationError
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import Throttled
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from evalplatform.client_address import client_address, is_this_machine
from hits.api.worker_schemas import (
    CheckIn,
    CheckOut,
    DialogIn,
    RefusalOut,
    SaveIn,
    SaveOut,
    Schema,
    SubmitIn,
    SubmitOut,
)
from hits.crowds import CROWDS, USUAL_WORDS, CrowdWords
from hits.models import Hit, Study
from hits.serving import (
    DialogState,
    MinuteCounter,
    Paid,
    Refusal,
    Ticket,
    WorkRefused,
    check_bonus,
    frozen_hit,
    read_token,
    save_dialogs,
    submit,
    who_pays,
)

MOST_BYTES = 200_000

STATUS = {
    Refusal.INVALID: 400,
    Refusal.TOKEN_INVALID: 401,
    Refusal.CONSENT_MISSING: 403,
    Refusal.NOT_ELIGIBLE: 403,
    Refusal.NOT_HELD: 403,
    Refusal.LIMIT_REACHED: 403,
    Refusal.STOPPED: 403,
    Refusal.NOTHING_FREE: 403,
    Refusal.REVOKED: 403,
    Refusal.STUDY_COMPLETE: 403,
    Refusal.STUDY_FULL: 403,
    Refusal.ALREADY_SUBMITTED: 409,
    Refusal.CONFLICT: 409,
    Refusal.INCOMPLETE: 409,
    Refusal.NO_ATTEMPTS_LEFT: 409,
    Refusal.TAKEN_OVER: 409,
    Refusal.TIME_OVER: 410,
    Refusal.TOO_LARGE: 413,
    Refusal.TOO_MANY_CHECKS: 409,
    Refusal.TOO_FAST: 429,
}

REFUSALS = {
    status: OpenApiResponse(RefusalOut, description=", ".join(code for code, its in STATUS.items() if its == status))
    for status in sorted(set(STATUS.values()))
}

Body = TypeVar("Body", bound=Schema)


class AssignmentToken(BaseAuthentication):
    """`Authorization: Assignment <token>`; the ticket that it names becomes `request.auth`."""

    def authenticate(self, request: Request) -> tuple[None, Ticket]:
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme != "Assignment":
            raise WorkRefused(Refusal.TOKEN_INVALID)
        return None, read_token(token)

    def authenticate_header(self, request: Request) -> str:
        return "Assignment"


class PerAssignmentAndAddress(BaseThrottle):
    """Limits how often one may call: a person who moves cards stays below. It counts by assignment and address and not
    by token, since whoever invents workers or assignments gets as many tokens as they like."""

    _of_assignment: ClassVar = MinuteCounter(most=300)
    _of_address: ClassVar = MinuteCounter(most=3000)  # enough for many people behind one address

    def allow_request(self, request: Request, view: APIView) -> bool:
        ticket, address = _ticket(request), client_address(request)
        is_fair = not address or is_this_machine(address) or self._of_address.allows(address)
        visit = ticket.visit
        assignment = ticket.study_key, visit.crowd, visit.environment, visit.assignment_id
        return self._of_assignment.allows(assignment) and is_fair


class OnlyJson(BaseContentNegotiation):
    """Answers in JSON, whatever the request says that it accepts."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class WorkerView(APIView):
    authentication_classes = (AssignmentToken,)
    permission_classes = ()
    throttle_classes = (PerAssignmentAndAddress,)
    parser_classes = (JSONParser,)
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = OnlyJson

    def handle_exception(self, error: Exception) -> Response:
        crowd, paid = _crowd_words(self.request), _who_pays(self.request)
        if isinstance(error, Throttled):
            response = _refusal(WorkRefused(Refusal.TOO_FAST), crowd, paid)
            response["Retry-After"] = "5"
            return response
        if isinstance(error, WorkRefused):
            response = _refusal(error, crowd, paid)
            if error.refusal == Refusal.TOKEN_INVALID:
                response["WWW-Authenticate"] = "Assignment"
            return response
        return super().handle_exception(error)


class SaveView(WorkerView):
    @extend_schema(request=SaveIn, responses={200: SaveOut, **REFUSALS}, operation_id="save", tags=["worker"])
    def post(self, request: Request) -> Response:
        """Saves where the worker is, and placements as they happen. The same again changes nothing."""
        body = _read(SaveIn, request)
        dialogs = save_dialogs(
            _ticket(request), _states(body.dialogs), timezone.now(), body.step, body.feedback, body.consent
        )
        return Response({"dialogs": dialogs})


class CheckView(WorkerView):
    @extend_schema(request=CheckIn, responses={200: CheckOut, **REFUSALS}, operation_id="check", tags=["worker"])
    def post(self, request: Request) -> Response:
        """Tells whether a placement would win the dialog's bonus point if it stays. Every attempt is stored."""
        body = _read(CheckIn, request)
        (state,) = _states([body])
        return Response(check_bonus(_ticket(request), state, body.attempt, timezone.now()))


class SubmitView(WorkerView):
    @extend_schema(request=SubmitIn, responses={200: SubmitOut, **REFUSALS}, operation_id="submit", tags=["worker"])
    def post(self, request: Request) -> Response:
        """Takes the whole assignment, or says what is missing; then tells how the worker gets back to the crowd."""
        body = _read(SubmitIn, request)
        return Response(submit(_ticket(request), _states(body.dialogs), body.feedback, timezone.now()))


def _ticket(request: Request) -> Ticket:
    ticket: Any = request.auth
    assert isinstance(ticket, Ticket)
    return ticket


def _read(schema: type[Body], request: Request) -> Body:
    # Pydantic reads the raw body: it neither runs out of stack on nested brackets nor takes NaN for a number.
    length = request.META.get("CONTENT_LENGTH") or ""
    if length.isdecimal() and int(length) > MOST_BYTES:
        raise WorkRefused(Refusal.TOO_LARGE)
    try:
        return schema.model_validate_json(request.body)
    except ValidationError:
        raise WorkRefused(Refusal.INVALID) from None


def _states(dialogs: Sequence[DialogIn]) -> list[DialogState]:
    return [
        DialogState(
            one.position,
            one.revision,
            one.sent,
            one.active_ms,
            one.hidden_ms,
            [list(move) for move in one.moves],
            one.problem,
        )
        for one in dialogs
    ]


def _crowd_words(request: Request) -> CrowdWords:
    """Return the words of the worker's crowd, or of the usual crowd if the token is not ours."""
    try:
        return CROWDS[_ticket(request).visit.crowd].words
    except WorkRefused:
        return USUAL_WORDS


def _who_pays(request: Request) -> Paid:
    """Return who pays for the worker's work; the crowd, if we can't know whose page it is."""
    try:
        ticket = _ticket(request)
        return who_pays(
            frozen_hit(ticket.study_key, 0).study.design, CROWDS[ticket.visit.crowd], ticket.visit.environment
        )
    except (WorkRefused, Study.DoesNotExist, Hit.DoesNotExist):
        return Paid.BY_CROWD


def _refusal(error: WorkRefused, crowd: CrowdWords, paid: Paid) -> Response:
    return Response(
        {"code": error.refusal, **asdict(error.words(crowd, paid)), **error.details}, status=STATUS[error.refusal]
    )
