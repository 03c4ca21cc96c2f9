"""Gives researchers' programs the list of studies, one study, its progress and its results."""

import json
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from hits.access import visible_studies
from hits.analysing import (
    find_results,
    note_look,
    offerings_of,
    origin_of_scope,
    origin_of_work,
    refresh_results,
    report_of,
    results_from_json,
    source_of,
)
from hits.api.researcher import ERRORS, ResearcherView
from hits.api.researcher_schemas import (
    CURSOR,
    MARKET,
    MARKET_OR_POOL,
    ProgressOut,
    ResultsOut,
    StudyDetailOut,
    StudyOut,
    StudyPage,
)
from hits.budgeting import budget_of
from hits.models import Offering, Study, StudyResults
from hits.monitoring import count_progress
from hits.views.pooled_pages import screening_of_scope, send_results_task


class StudyPages(CursorPagination):
    ordering = "-pk"
    page_size = 50


class StudyListView(ResearcherView):
    parameters = frozenset({"cursor"})

    @extend_schema(
        operation_id="list_studies", parameters=[CURSOR], responses={200: StudyPage, **ERRORS}, tags=["researcher"]
    )
    def get(self, request: Request) -> Response:
        """Lists the studies that you own or are a member of, the newest first."""
        pages = StudyPages()
        found = pages.paginate_queryset(visible_studies(request.user), request, self) or []
        return pages.get_paginated_response([_study(study) for study in found])


class StudyView(ResearcherView):
    @extend_schema(operation_id="get_study", responses={200: StudyDetailOut, **ERRORS}, tags=["researcher"])
    def get(self, request: Request, key: UUID) -> Response:
        """Shows a study with its design and its members."""
        study = self.study(request, key)
        members = list(study.memberships.values_list("user__username", flat=True))
        return Response({**_study(study), "members": members, "design": study.design})


class ProgressView(ResearcherView):
    parameters = frozenset({"market"})

    @extend_schema(
        operation_id="get_progress", parameters=[MARKET], responses={200: ProgressOut, **ERRORS}, tags=["researcher"]
    )
    def get(self, request: Request, key: UUID) -> Response:
        """Counts how far a study is on a marketplace, and what it has cost."""
        offering = self.offering(request, key)
        progress = asdict(count_progress(offering))
        money = _money(offering) if offering.study.is_frozen else _NO_MONEY
        origin = asdict(origin_of_work(offering))
        return Response({"market": offering.marketplace, "origin": origin, **progress, **money})


class ResultsView(ResearcherView):
    parameters = frozenset({"market"})

    @extend_schema(
        operation_id="get_results",
        parameters=[MARKET_OR_POOL],
        responses={200: ResultsOut, 202: ResultsOut, **ERRORS},
        tags=["researcher"],
    )
    def get(self, request: Request, key: UUID) -> Response:
        """Gives the results as they were computed last. If ratings have come in since, they are computed anew in the
        background: ask again after some seconds. The status is 202 as long as there are no results."""
        scope = self.scope(request, key)
        row = find_results(scope)
        if scope.study.is_frozen:
            row = refresh_results(scope, send_results_task, timezone.now())
        state = _state(row)
        answer = ""
        if row.results:
            results = results_from_json(row.results)
            answer = report_of(results).answer
            actor = request.user if isinstance(request.user, User) else None
            note_look(scope, results.progress, row.source, actor, timezone.now())
        body = {
            "market": scope.marketplace,
            "offerings": [one.marketplace for one in offerings_of(scope)],
            "state": state,
            "computed_at": row.computed_at,
            "problem": row.problem,
            "origin": asdict(origin_of_scope(scope)),
            "screening_warning": screening_of_scope(scope)["screening_warning"],
            "answer": answer,
            "results": json.loads(row.results) if row.results else None,
        }
        return Response(body, status=202 if state == "being computed" and not row.results else 200)


def _study(study: Study) -> dict[str, Any]:
    found = StudyOut(
        key=study.key,
        name=study.name,
        owner=study.owner.username if study.owner else None,
        is_frozen=study.is_frozen,
        created_at=study.created_at,
        frozen_at=study.frozen_at,
        manifest_hash=study.manifest_hash,
    )
    return found.model_dump()


_NO_MONEY = {"spent_cents": 0, "owed_cents": 0, "open_cents": 0, "budget_cents": None}


def _money(offering: Offering) -> dict[str, Any]:
    budget = budget_of(offering)
    return {
        "currency": budget.currency,
        "spent_cents": budget.spent_cents,
        "owed_cents": budget.owed_cents,
        "open_cents": budget.open_cents,
        "budget_cents": budget.cap_cents,
    }


def _state(row: StudyResults) -> str:
    source = source_of(row.scope)
    if not source:
        return "nothing rated"
    if row.is_under_way:
        return "being computed"
    if row.problem:
        return "failed"
    return "current" if row.source == source else "stale"
