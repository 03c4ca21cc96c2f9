"""Shows the worker's own page inside a researcher's page, as a whole document for the `srcdoc` of a frame.

A frame has no address: whoever may see the page around it sees the frame, and nobody else can ask for it. Its data
has no token, so that nothing can be saved, and no model's name: those stand in the page around it.
"""

from typing import Any

from django.template.loader import render_to_string

from hits.models import Assignment
from hits.models.design import StudyDesign
from hits.serving import FrozenHit, drafted_page, drafted_study, page_context, shown_pages


def frames_of_hit(hit: FrozenHit, assignment: Assignment | None = None) -> list[str]:
    """Return a document for each dialog: as it was answered, or as its first worker will see it."""
    return [_document(hit.study.design, page) for page in shown_pages(hit, assignment)]


def frame_of_draft(design: StudyDesign) -> str:
    return _document(design, drafted_page(drafted_study(design)))


def _document(design: StudyDesign, page: dict[str, Any]) -> str:
    return render_to_string("work/hit.html", page_context(design, page))
