"""Shows a study's own page: problems or cost, building, copying, members, publishing, HITs and the design."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from hits.access import can_invite
from hits.designing import (
    DraftCheck,
    Selection,
    check_draft,
    check_study_style,
    render_markdown,
    summarise,
    summarise_frozen,
    usual_texts,
)
from hits.models import Study
from hits.models.design import StudyDesign
from hits.publishing import describe_public_orders
from hits.views.publishing_panel import publishing_panel
from hits.views.refused import STATUS, Refused
from hits.views.setting_fields import SettingField
from hits.views.study_pages import user_of
from hits.views.study_steps import STEPS
from hits.views.table_fields import table_in_words
from hits.views.typed_text import in_short
from hits.views.waiting import waits_of

HITS_PER_PAGE = 30
MOST_DIALOGS_LOOKED_THROUGH = 10_000


def render_study(request: HttpRequest, study: Study, refused: Refused | None = None) -> HttpResponse:
    """Render the page. `refused` is a form of this page that was sent, with the reason why it was refused."""
    checked = DraftCheck([], []) if study.is_frozen else check_draft(study.design)
    problems, chosen = checked.problems, checked.selections
    design = None if problems else study.parsed_design
    summary = summarise_frozen(study) if study.is_frozen else design and summarise(design, chosen)
    hits = study.hits.annotate(dialog_count=Count("items", filter=Q(items__repeats=None))).order_by("number")
    context = {
        "study": study,
        "problems": problems,
        "summary": summary,
        "style": study.style_report if study.is_frozen else design and _style_of_draft(design, chosen),
        "page": Paginator(hits, HITS_PER_PAGE).get_page(request.GET.get("page")),
        "design": _design_rows(study),
        "publishing": study.is_frozen and _publishing(request, study, refused),
        "memberships": study.memberships.select_related("user"),
        "can_invite": can_invite(study, user_of(request)),
        "refused": refused,
        "public_orders": describe_public_orders(study),
        "waits": waits_of(study),
        "usual_texts": usual_texts(design) if design and not study.is_frozen else {},
    }
    return render(request, "hits/study.html", context, status=STATUS if refused else 200)


def _publishing(request: HttpRequest, study: Study, refused: Refused | None) -> dict[str, Any]:
    is_told = refused is not None and refused.form == "publishing"  # its first check is about the budget
    return publishing_panel(study, request.POST if refused else request.GET, is_told)


def _style_of_draft(design: StudyDesign, chosen: list[Selection]) -> dict[str, Any] | None:
    """Check if the replies' style gives the human ones away; a large draft is checked when its HITs are built."""
    if sum(part.dialog_count for part in design.datasets) > MOST_DIALOGS_LOOKED_THROUGH:
        return None
    return check_study_style(design, chosen).as_json()


def _design_rows(study: Study) -> list[dict[str, Any]]:
    return [
        {
            "title": step.title,
            "rows": [
                {
                    "label": field.label,
                    "value": _shown(field, value),
                    "help": field.help if _is_nothing(value) else "",  # what nothing or 0 means
                    "is_markup": field.kind == "markdown",
                }
                for field in step.fields(study.design)
                for value in [field.value_in(study.design)]
            ],
        }
        for step in STEPS
    ]


def _shown(field: SettingField, value: Any) -> Any:
    """Return a setting in the words that its field has for it."""
    if field.kind == "flag":
        return "yes" if value else "no"
    if field.kind == "markdown" and isinstance(value, str):
        return render_markdown(value)
    if field.kind == "table":
        return table_in_words(value)
    if field.kind == "screening":
        return "\n".join(map(_rule_in_words, value)) or "none"
    words = dict(field.choices)
    chosen = value if isinstance(value, list) else [value]
    if all(isinstance(one, str) and one in words for one in chosen):  # a draft may hold what is no choice
        return ", ".join(words[one] for one in chosen) or "none"
    return _in_words(value)


def _is_nothing(value: Any) -> bool:
    return value in ("", [], "0", 0) and value is not False


def _rule_in_words(rule: Any) -> str:
    if not isinstance(rule, dict):
        return str(rule)
    parameters = ", ".join(f"{name} {in_short(value)}" for name, value in rule.items() if name != "rule")
    return f"{rule.get('rule')} ({parameters})" if parameters else str(rule.get("rule"))


def _in_words(value: Any) -> Any:
    """Write lists of settings with a line for each, and anything else as the form shows it."""
    if isinstance(value, dict):
        return " · ".join(str(_in_words(part)) for part in value.values())
    if isinstance(value, list):
        return ("\n" if any(isinstance(one, dict) for one in value) else ", ").join(
            str(_in_words(one)) for one in value
        )
    return "none" if value == "" else in_short(value)
