"""Computes a study's results in the background and saves them for the pages; a failure keeps the earlier ones.

In: an offering, or a pool of several. Out: its `StudyResults` row, filled with results and figures, and its
`RatedDialogs` row.
Guaranteed: the row says what it was computed from, so that ratings that arrive meanwhile make it stale; if the
computation fails, the row says why and keeps the earlier results.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from evalplatform.background_work import at_work
from hits.analysing.figures.all_figures import Picture, make_pictures
from hits.analysing.pooling import offerings_of
from hits.analysing.rated_dialogs import rated_dialogs
from hits.analysing.results import Results
from hits.analysing.serialising import results_as_json, results_from_json
from hits.analysing.stored_results import source_of
from hits.analysing.study_analysis import analyse_frame, frame_to_analyse, scales_of
from hits.models import Offering, RatedDialogs, Scope, StudyResults, of_scope
from hits.screening import pooled_funnel

VARIANT_FIGURES = ("shares", "comparisons", "ranking", "agreement")


def compute_results(scope: Scope, now: Callable[[], datetime]) -> None:
    """Compute what was requested, or what nobody has requested yet; do nothing if the request is answered already."""
    rows = StudyResults.objects.filter(**of_scope(scope))
    StudyResults.objects.get_or_create(**of_scope(scope))
    if not rows.note_start_unless_done(now()):
        return
    with at_work(rows, now, "The computation failed.") as outcome:
        # Before we read any ratings, so that later ones make the results stale. It is saved if the rest fails as well,
        # or a waiting page would request the same computation again and again.
        outcome["source"] = source_of(scope)
        computed, dialogs = _compute(scope)
        if isinstance(scope, Offering):  # dialogs are listed for one offering, with its workers
            RatedDialogs.objects.update_or_create(offering=scope, defaults={"facts": dialogs})
        outcome |= {**computed, "computed_at": now()}


def _compute(scope: Scope) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of the results' row, and what was counted in each dialog."""
    frame = frame_to_analyse(scope)
    written = results_as_json(analyse_frame(frame, scope))
    results = results_from_json(written)  # figures show what is stored, with as many digits as in a bundle
    computed = {
        "results": written,
        "figures": {
            "": pictures_as_json(make_pictures(results, pooled_funnel(offerings_of(scope)))),
            **_draw_variants(results),
        },
    }
    return computed, rated_dialogs(frame, scales_of(scope.study))


def _draw_variants(results: Results) -> dict[str, list[dict[str, str]]]:
    """Draw the figures of each variant but the first, which applies all rules and is drawn already. A variant has
    figures of its own for all that it shows, so that no page puts another one's beside its tables."""
    return {
        variant.name: pictures_as_json(make_pictures(results.under(variant.name), wanted=VARIANT_FIGURES))
        for variant in results.main.variants[1:]
    }


def pictures_as_json(found: list[Picture]) -> list[dict[str, str]]:
    return [
        {
            "name": one.name,
            "title": one.title,
            "description": one.description,
            "svg": one.svg,
            "narrow_svg": one.narrow_svg,
            "section": one.section,
        }
        for one in found
    ]
