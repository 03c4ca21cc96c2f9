"""Shows a study's ledger of all that is paid and owed, and its log of who did what and when."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evalplatform.spreadsheet_cells import cell_of
from hits.access import note_event, pseudonym
from hits.analysing import origin_of_work
from hits.crowds import crowd_of
from hits.models import Offering
from hits.models.money import money
from hits.monitoring import (
    DUE_COLUMNS,
    LEDGER_COLUMNS,
    PAYMENT_STATES,
    due_rows,
    is_rehearsed,
    ledger_rows,
    payment_state,
    payments_of,
    sum_ledger,
)
from hits.views.study_pages import find_offering, surroundings, tells_refusals, user_of

PAYMENTS_PER_PAGE = 50
EVENTS_PER_PAGE = 50


@require_GET
def show_ledger(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_offering(request, name)
    state = request.GET.get("state", "")
    state = state if state in PAYMENT_STATES else ""
    payments = payments_of(offering, state).select_related("submission__assignment__hit", "bonus_list")
    page = Paginator(payments.defer("submission__answer_xml"), PAYMENTS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **surroundings(offering),
        "page": page,
        "rows": [
            {
                "payment": payment,
                "worker": pseudonym(offering.study, payment.submission.assignment.crowd_worker_id),
                "assignment": payment.submission.assignment,
                "state": payment_state(payment),
                "amount": money(payment.cents, offering.currency),
                "fee": money(payment.fee_cents, offering.currency),
            }
            for payment in page
        ],
        "sums": [
            {
                "kind": one.kind,
                "count": one.count,
                "paid": money(one.paid_cents, offering.currency),
                "owed": money(one.owed_cents, offering.currency),
                "cancelled": money(one.cancelled_cents, offering.currency),
            }
            for one in sum_ledger(offering)
        ],
        "states": list(PAYMENT_STATES),
        "is_rehearsed": is_rehearsed(offering),
        "pays_workers": crowd_of(offering).abilities.pays_workers,
        "state": state,
    }
    return render(request, "hits/ledger.html", context)


@require_http_methods(["GET", "POST"])
@tells_refusals
def download_ledger(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Download the ledger with pseudonyms or, by POST, with the marketplace's own worker ids, which is logged."""
    offering = find_offering(request, name)
    has_worker_ids = request.method == "POST"
    if has_worker_ids:
        text = f"downloaded the ledger ({offering.marketplace}) with the workers' own ids"
        note_event(offering.study, text, user_of(request), timezone.now())
    headers = {
        "Content-Disposition": f'attachment; filename="{offering.study.name}-{offering.marketplace}-ledger.csv"',
        "Cache-Control": "no-store",
    }
    lines = _as_csv(offering, LEDGER_COLUMNS, ledger_rows(offering, has_worker_ids))
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)


@require_POST
@tells_refusals
def download_dues(request: HttpRequest, name: str) -> StreamingHttpResponse:
    """Download what is due to each worker elsewhere, with the ids by which those who pay know them. That is logged."""
    offering = find_offering(request, name)
    text = f"downloaded what is due elsewhere ({offering.marketplace}) with the workers' own ids"
    note_event(offering.study, text, user_of(request), timezone.now())
    headers = {
        "Content-Disposition": f'attachment; filename="{offering.study.name}-{offering.marketplace}-due.csv"',
        "Cache-Control": "no-store",
    }
    lines = _as_csv(offering, DUE_COLUMNS, due_rows(offering))
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)


@require_GET
def show_events(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_offering(request, name)
    events = offering.study.events.select_related("actor")
    page = Paginator(events, EVENTS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "hits/events.html", {**surroundings(offering), "page": page})


class _Line:
    """A file for csv to write into that hands on each line at once."""

    def write(self, line: str) -> str:
        return line


def _as_csv(offering: Offering, columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    writer = csv.writer(_Line())
    note = origin_of_work(offering).warning  # in every row, which goes further than a line above them
    yield writer.writerow([*columns, "note"])
    for row in rows:
        yield writer.writerow([cell_of(cell) if isinstance(cell, str) else cell for cell in (*row, note)])
