"""Holds what all endpoints for researchers' programs share: tokens, errors, the rate limit, finding the study."""

from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException, AuthenticationFailed, NotFound, ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from evalplatform.errors import EvalPlatformError
from hits.access import study_for, user_of_token
from hits.analysing import find_pool
from hits.api.researcher_schemas import ErrorOut
from hits.crowds import offered_marketplaces
from hits.models import Offering, Scope, Study, offering_for, origin_of_pool
from hits.publishing import last_offering

log = structlog.get_logger("hits.api")

HOW_TO_ASK = "Send a token of yours with each request, as in: Authorization: Token ... . The page /tokens/ makes one."
NOT_KNOWN = "This token is not known, or it was revoked. The page /tokens/ makes another."

ERRORS = {
    status: OpenApiResponse(ErrorOut, description=text)
    for status, text in {
        400: "a parameter is wrong",
        401: "the token is missing, unknown or revoked",
        404: "there is no such study, or you are not a member of it",
        429: "there were too many requests; Retry-After says when to continue",
    }.items()
}


class ApiTokenAuthentication(BaseAuthentication):
    """`Authorization: Token ...`"""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "token":
            return None
        user = user_of_token(token.strip(), timezone.now())
        if user is None:
            raise AuthenticationFailed(NOT_KNOWN)
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return "Token"


class PerUser(UserRateThrottle):
    scope = "api"

    def get_rate(self) -> str:
        return f"{settings.API_REQUESTS_PER_MINUTE}/min"


class ResearcherView(APIView):
    authentication_classes = (ApiTokenAuthentication,)
    permission_classes = (IsAuthenticated,)
    throttle_classes = (PerUser,)
    renderer_classes = (JSONRenderer,)
    parameters: frozenset[str] = frozenset()  # those that the endpoint knows: a misspelt filter must not pass unnoticed

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        for name in request.query_params:
            if name not in self.parameters:
                known = ", ".join(sorted(self.parameters)) or "none"
                raise ValidationError(f"There is no parameter {name!r} here. There is: {known}.")

    def permission_denied(self, request: Request, message: str | None = None, code: str | None = None) -> Any:
        if request.user is None or not request.user.is_authenticated:
            raise AuthenticationFailed(HOW_TO_ASK)
        super().permission_denied(request, message, code)

    def handle_exception(self, error: Exception) -> Response:
        """Answer every error with {"error": one sentence}."""
        if isinstance(error, Http404):
            error = NotFound(str(error) or "There is nothing here.")
        if isinstance(error, EvalPlatformError):
            error = ValidationError(str(error))
        if not isinstance(error, APIException):
            log.exception("api", error=str(error))
            return Response({"error": "Something went wrong on our side. It is noted; try again later."}, status=500)
        response = super().handle_exception(error)
        response.data = {"error": _sentence(error)}
        return response

    def study(self, request: Request, key: UUID) -> Study:
        return study_for(request.user, key=key)

    def offering(self, request: Request, key: UUID) -> Offering:
        """Return the study on the marketplace asked for, else on the one where it was published last."""
        study = self.study(request, key)
        offered = offered_marketplaces()
        asked = request.query_params.get("market")
        if asked is None:
            return last_offering(study, offered)
        if asked not in offered:
            raise ValidationError(f"{asked!r} is no marketplace here; there is: {', '.join(offered)}.")
        return offering_for(study, asked)

    def scope(self, request: Request, key: UUID) -> Scope:
        """Return the offering asked for, or a pool of several."""
        if origin := origin_of_pool(request.query_params.get("market", "")):
            return find_pool(self.study(request, key), origin)
        return self.offering(request, key)


@extend_schema(exclude=True)
class NotFoundView(ResearcherView):
    """Answers wrong addresses below the API, in JSON too, and only with a valid token."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        APIView.initial(self, request, *args, **kwargs)
        raise NotFound(f"There is nothing at {request.path}. The page /api/ lists what there is.")

    def get(self, request: Request, rest: str) -> Response:
        raise NotFound


def _sentence(error: APIException) -> str:
    detail: Any = error.detail
    while isinstance(detail, (list, dict)):
        detail = next(iter(detail.values() if isinstance(detail, dict) else detail), "")
    return str(detail)
