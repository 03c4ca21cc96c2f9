"""Downloads the personal links of raters, and their payroll, as CSV.

Both name people: they are asked for by POST, and noted in the study's log.
"""

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from evalplatform.spreadsheet_cells import cell_of
from hits.access import note_event
from hits.analysing import origin_of_work
from hits.crowds import personal_link
from hits.models import Invitation, Offering
from hits.monitoring import NOTHING_DUE, PAYROLL_COLUMNS, is_rehearsed, payroll_rows
from hits.views.invitations_page import find_invited
from hits.views.study_pages import tells_refusals, user_of

LINK_COLUMNS = ("name", "email", "link")


@require_POST
@tells_refusals
def download_links(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_invited(request, name)
    rows = [
        (one.name, one.email, personal_link(one))
        for one in Invitation.objects.filter(offering=offering, revoked_at=None).select_related("offering__study")
    ]
    return _as_csv(request, offering, "links", "the personal links of raters", LINK_COLUMNS, rows)


@require_POST
@tells_refusals
def download_payroll(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_invited(request, name)
    note = origin_of_work(offering).warning  # in every row, which goes further than a line above them
    due = NOTHING_DUE if is_rehearsed(offering) else ""
    rows = [(*row, due, note) for row in payroll_rows(offering)]
    columns = [*PAYROLL_COLUMNS, "due", "note"]
    return _as_csv(request, offering, "payroll", "the payroll of invited raters", columns, rows)


def _as_csv(
    request: HttpRequest,
    offering: Offering,
    what: str,
    words: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
) -> HttpResponse:
    note_event(offering.study, f"downloaded {words} ({offering.marketplace})", user_of(request), timezone.now())
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([cell_of(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    name = f"{offering.study.name}-{offering.marketplace}-{what}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    # With a mark that tells spreadsheets that letters beyond ASCII are UTF-8: names have them.
    return HttpResponse(f"\ufeff{text.getvalue()}", content_type="text/csv; charset=utf-8", headers=headers)
