"""Lists the dialogs behind the results: replies, how each was rated and by whom, filtered and page by page.

Which dialogs there are, and which a filter chooses, was counted by the last computation; how their cards were rated is
read from the ratings of this page's dialogs alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from generation.models import Dialog
from hits.analysing import (
    AGREE,
    DIFFER,
    DialogFilter,
    RatedDialogFacts,
    choose_dialogs,
    find_rated_dialogs,
    find_results,
)
from hits.models import HitItem, Offering, ScreeningRun
from hits.models.cards import Card
from hits.protocols import Criterion, protocol_of
from hits.views.card_sayings import Said, card_sayings
from hits.views.card_writers import candidates_of, text_of, writers_of
from hits.views.study_pages import find_offering, surroundings

DIALOGS_PER_PAGE = 10
OF_THE_MODEL = ((DIFFER, "workers differ on its reply"), (AGREE, "workers agree on its reply"))
OF_ANY = ((DIFFER, "workers differ on some reply"), (AGREE, "workers agree on every reply"))


@dataclass(frozen=True)
class ShownCard:
    text: str
    writers: str
    values: list[tuple[str, list[Said]]]  # each value that was given, best first, and who gave it


@dataclass(frozen=True)
class ShownDialog:
    dialog: Dialog
    turns: list[tuple[int, str]]  # the speaker, from 1, and what they say
    apart: float | None
    cards: list[ShownCard]


@dataclass(frozen=True)
class Choice:
    """A field of the filter form: its options as (value, words), and the one that is chosen."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    chosen: str


@require_GET
def show_dialogs(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_offering(request, name)
    context = {
        **surroundings(offering),
        **dialogs_context(offering, request.GET, names_workers=True),
        "results_address": f"{reverse('results', args=[name])}?market={offering.marketplace}",
    }
    return render(request, "hits/dialogs.html", context)


def dialogs_context(offering: Offering, query: Mapping[str, str], names_workers: bool) -> dict[str, Any]:
    """Return what `hits/dialogs.html` shows. Without `names_workers`, nobody learns who said what."""
    facts = find_rated_dialogs(offering)
    if facts is None:
        return {"facts": None}
    chosen, with_left_out = DialogFilter.from_query(query), query.get("left_out") == "yes"
    indexes = choose_dialogs(facts, chosen, with_left_out)
    page = Paginator(indexes, DIALOGS_PER_PAGE).get_page(query.get("page"))
    labels = {one.name: one for one in protocol_of(offering.study.parsed_design).criteria}
    criterion = labels[facts.criterion_of(chosen)]
    return {
        "facts": facts,
        "page": page,
        "dialogs": _shown_dialogs(offering, facts, list(page), criterion, with_left_out),
        "choices": _choices(facts, chosen, labels),
        "is_filtered": bool(chosen.as_query()),
        "with_left_out": with_left_out,
        "can_leave_out": ScreeningRun.objects.current(offering) is not None,
        "names_workers": names_workers,
        "computed_at": find_results(offering).computed_at,
    }


def _choices(facts: RatedDialogFacts, chosen: DialogFilter, labels: Mapping[str, Criterion]) -> list[Choice]:
    """List the fields of the form; one with a single option would choose nothing."""
    criterion = facts.criterion_of(chosen)
    scale = labels[criterion].scale
    values = [(value, scale.label(value) if value in scale.values else value) for value in facts.values[criterion]]
    fields = [
        Choice("model", "Model", _same(facts.models(criterion)), chosen.model),
        Choice("value", "Rated", values, chosen.value),
        Choice("dataset", "Dataset", _same(facts.datasets), chosen.dataset),
        Choice("emotion", "Emotion", _same(facts.emotion_names), chosen.emotion),
        Choice("turns", "Turns", _same(facts.turn_counts), chosen.turns),
        Choice("disagreement", "Disagreement", OF_THE_MODEL if chosen.model else OF_ANY, chosen.disagreement),
    ]
    if chosen.other:
        fields.insert(1, Choice("other", "Beside", _same(facts.models(criterion)), chosen.other))
    if len(facts.criteria) > 1:
        fields.insert(
            0, Choice("criterion", "Criterion", [(one, labels[one].title) for one in facts.criteria], criterion)
        )
    return [one for one in fields if len(one.options) > 1 or one.chosen]


def _same(names: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]


def _shown_dialogs(
    offering: Offering, facts: RatedDialogFacts, indexes: Sequence[int], criterion: Criterion, with_left_out: bool
) -> list[ShownDialog]:
    keys = [facts.dialogs[index] for index in indexes]
    rated = HitItem.objects.filter(hit__study=offering.study, repeats=None)
    items = rated.filter(dialog__in=keys).select_related("dialog__dataset")
    by_dialog: dict[int, list[HitItem]] = {}
    for item in items.order_by("pk"):
        by_dialog.setdefault(item.dialog_id, []).append(item)
    candidates = candidates_of(one for items in by_dialog.values() for one in items)
    said = card_sayings(offering, by_dialog, candidates, criterion, with_left_out)
    design = offering.study.parsed_design
    found = []
    for index, key in zip(indexes, keys, strict=True):
        dialog = by_dialog[key][0].dialog
        cards = [
            ShownCard(
                text_of(design, card, dialog, candidates), writers_of(card, candidates), said.get((key, card), [])
            )
            for card in _cards_of(by_dialog[key])
        ]
        turns = [(1 + turn % 2, text) for turn, text in enumerate(dialog.turns)]
        found.append(ShownDialog(dialog, turns, facts.apart[index], cards))
    return found


def _cards_of(items: Sequence[HitItem]) -> list[Card]:
    """Return each card once: HITs may show other replies to the same dialog. The human reply comes last."""
    cards = dict.fromkeys(card for item in items for card in item.cards)
    return sorted(cards, key=lambda card: card.is_gold)
