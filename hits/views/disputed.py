"""Shows the dialogs on which workers disagree most: how each card was rated, and by whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from generation.models import Dialog
from hits.access import pseudonym
from hits.analysing import find_results
from hits.models import HitItem, Offering, Rating, ScreeningRun
from hits.protocols import Criterion, protocol_of
from hits.views.card_writers import candidates_of, text_of, writers_of
from hits.views.study_pages import find_offering, surroundings

DIALOGS_PER_PAGE = 10


@dataclass(frozen=True)
class Said:
    worker: str
    assignment_pk: int


@dataclass(frozen=True)
class DisputedCard:
    text: str
    writers: str
    values: list[tuple[str, list[Said]]]  # each value's label, and who said it of the card


@dataclass(frozen=True)
class DisputedDialog:
    dialog: Dialog
    turns: list[tuple[int, str]]  # the speaker, from 1, and what they say
    apart: float
    cards: list[DisputedCard]


@require_GET
def show_disputed(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_offering(request, name)
    row = find_results(offering)
    page = Paginator(row.disputed, DIALOGS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **surroundings(offering),
        "row": row,
        "page": page,
        "dialogs": _dialogs(offering, list(page)),
    }
    return render(request, "hits/disputed.html", context)


def _dialogs(offering: Offering, disputed: Sequence[dict[str, Any]]) -> list[DisputedDialog]:
    """List the dialogs with the ratings that the screening keeps at this moment."""
    keys = [one["dialog"] for one in disputed]
    items = HitItem.objects.filter(hit__study=offering.study, dialog__in=keys).select_related("dialog__dataset")
    by_dialog = {item.dialog_id: item for item in items.order_by("-pk")}
    candidates = candidates_of(by_dialog.values())
    design = offering.study.parsed_design
    criteria = protocol_of(design).criteria
    said = _said(offering, keys)
    return [
        DisputedDialog(
            item.dialog,
            [(1 + place % 2, text) for place, text in enumerate(item.dialog.turns)],
            one["apart"],
            [
                DisputedCard(
                    text_of(design, card, item.dialog, candidates),
                    writers_of(card, candidates),
                    [one for asked in criteria for one in _by_value(asked, said, (item.dialog_id, number), criteria)],
                )
                for number, card in enumerate(item.cards)
            ],
        )
        for one in disputed
        if (item := by_dialog.get(one["dialog"]))
    ]


_Saying = dict[tuple[int, int, str, str], dict[int, Said]]


def _said(offering: Offering, dialogs: Sequence[int]) -> _Saying:
    """Return who said what about a card, by dialog, card, criterion and value, then by assignment: a card that stands
    for several models has several ratings, but was judged once."""
    kept = Rating.objects.confirmed(offering).kept(ScreeningRun.objects.current(offering))
    ratings = kept.filter(item__dialog__in=dialogs)
    found: _Saying = {}
    key = ("item__dialog", "card", "criterion", "value")
    columns = (*key, "submission__assignment", "submission__assignment__crowd_worker_id")
    for *about, assignment, worker_id in ratings.order_by("pk").values_list(*columns):
        dialog, card, criterion, value = about
        said = Said(pseudonym(offering.study, worker_id), assignment)
        found.setdefault((dialog, card, criterion, value), {})[assignment] = said
    return found


def _by_value(
    asked: Criterion, said: _Saying, card: tuple[int, int], criteria: Sequence[Criterion]
) -> list[tuple[str, list[Said]]]:
    prefix = f"{asked.name}: " if len(criteria) > 1 else ""
    return [
        (prefix + asked.scale.label(value), list(said.get((*card, asked.name, value), {}).values()))
        for value in asked.scale.values
    ]
