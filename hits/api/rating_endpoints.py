"""Lists single ratings for researchers' programs, filtered, and a page at a time by cursor."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

from generation.models import Candidate
from hits.access import pseudonym
from hits.analysing import origin_of_work
from hits.api.researcher import ERRORS, ResearcherView
from hits.api.researcher_schemas import CURSOR, MARKET, RatingPage
from hits.models import HitItem, Offering, Rating, ScreeningRun, Study, Submission
from hits.models.submission import RatingQuerySet
from hits.monitoring import find_worker
from hits.protocols import protocol_of
from hits.screening import first_rules

HUMAN = "human"
FILTERS = [
    OpenApiParameter("dataset", str, description="Its name."),
    OpenApiParameter("generator", str, description=f"Its name, or `{HUMAN}` for the human replies."),
    OpenApiParameter("kept", bool, description="Whether the current screening leaves them in; else both kinds."),
    OpenApiParameter("worker", str, description="A pseudonym."),
    OpenApiParameter("page_size", int, description="Ratings on a page, 500 unless told and 2,000 at most."),
]
OF_RATING = ("card", "place", "criterion", "value")
OF_ITEM = {
    "position": "position",
    "dataset": "dialog__dataset__name",
    "dialog": "dialog__external_id",
    "is_checkpoint": "is_checkpoint",
}
OF_SUBMISSION = {
    "worker_id": "assignment__crowd_worker_id",
    "hit": "assignment__hit__number",
    "submitted_at": "submitted_at",
    "origin": "origin",
}
WORKER = "submission__assignment__crowd_worker_id"


class RatingPages(CursorPagination):
    ordering = "pk"
    page_size = 500
    page_size_query_param = "page_size"
    max_page_size = 2000


class RatingListView(ResearcherView):
    parameters = frozenset({"market", "cursor", *(one.name for one in FILTERS)})

    @extend_schema(
        operation_id="list_ratings",
        parameters=[MARKET, *FILTERS, CURSOR],
        responses={200: RatingPage, **ERRORS},
        tags=["researcher"],
    )
    def get(self, request: Request, key: UUID) -> Response:
        """Lists the ratings that the marketplace has confirmed, in the order in which they were collected."""
        offering = self.offering(request, key)
        run = ScreeningRun.objects.current(offering)
        found = _filtered(Rating.objects.confirmed(offering), request, offering, run)
        pages = RatingPages()
        # We look up what belongs to the ratings for this page alone: with nine joined tables, the database's planner
        # chooses badly while it does not know yet how full they are.
        columns: Any = found.values("pk", "submission", "item", "candidate", "opponent", *OF_RATING)
        rows: list[dict[str, Any]] = pages.paginate_queryset(columns, request, self) or []
        response = pages.get_paginated_response(_rows(offering.study, rows, run))
        response.data["warning"] = origin_of_work(offering).warning
        return response


def _filtered(
    ratings: RatingQuerySet, request: Request, offering: Offering, run: ScreeningRun | None
) -> RatingQuerySet:
    asked, study = request.query_params, offering.study
    if "dataset" in asked:
        ratings = ratings.filter(item__dialog__dataset__name=_one_of(asked["dataset"], "dataset", _datasets(study)))
    if "generator" in asked:
        names = [*study.design.get("generators", []), HUMAN]
        name = _one_of(asked["generator"], "generator", names)
        ratings = ratings.filter(candidate=None) if name == HUMAN else ratings.filter(candidate__generator__name=name)
    if "kept" in asked:
        is_kept = _one_of(asked["kept"].lower(), "kept", ["true", "false"]) == "true"
        ratings = ratings.kept(run) if is_kept else ratings.left_out(run)
    if "worker" in asked:
        worker_id = find_worker(offering, asked["worker"])
        if worker_id is None:
            raise ValidationError(f"No worker of this study is called {asked['worker']!r}.")
        ratings = ratings.filter(**{WORKER: worker_id})
    return ratings


def _datasets(study: Study) -> list[str]:
    return [str(part.get("name")) for part in study.design.get("datasets", [])]


def _one_of(asked: str, name: str, known: Sequence[str]) -> str:
    if asked not in known:
        raise ValidationError(f"{asked!r} can't be the {name}; it is one of: {', '.join(known)}.")
    return asked


def _rows(study: Study, rows: Sequence[dict[str, Any]], run: ScreeningRun | None) -> list[dict[str, Any]]:
    items = _by_key(HitItem.objects.filter(pk__in={row["item"] for row in rows}), OF_ITEM)
    work = _by_key(Submission.objects.filter(pk__in={row["submission"] for row in rows}), OF_SUBMISSION)
    candidates = {row[name] for row in rows for name in ("candidate", "opponent")} - {None}
    generators = dict(Candidate.objects.filter(pk__in=candidates).values_list("pk", "generator__name"))
    rules = first_rules(run, {key: one["worker_id"] for key, one in work.items()})
    names = {key: pseudonym(study, one.pop("worker_id")) for key, one in work.items()}
    criteria = protocol_of(study.parsed_design).criteria if rows else []
    scales = {one.name: one.scale for one in criteria}
    return [
        {
            "id": row["pk"],
            "worker": names[row["submission"]],
            **work[row["submission"]],
            **items[row["item"]],
            **{name: row[name] for name in OF_RATING},
            "generator": generators.get(row["candidate"]),
            "opponent": generators.get(row["opponent"]),
            "score": scales[row["criterion"]].score(row["value"]),
            "is_kept": row["submission"] not in rules,
            "excluded_by": rules.get(row["submission"]),
        }
        for row in rows
    ]


def _by_key(rows: QuerySet[Any], columns: Mapping[str, str]) -> dict[int, dict[str, Any]]:
    found = rows.order_by().values_list("pk", *columns.values())
    return {key: dict(zip(columns, values, strict=True)) for key, *values in found}
