"""Shows the study form: seven steps that save drafts, live previews of the worker's page and the cost, the planner."""

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from pydantic import ValidationError

from evalplatform.errors import EvalPlatformError
from evalplatform.listeners import is_anyone_listening
from hits.access import study_for
from hits.background import send_once
from hits.crowds import crowd_in
from hits.designing import (
    DraftCheck,
    check_draft,
    is_quick_to_plan,
    plan_as_json,
    plan_question_id,
    plan_study_size,
    planned_measure,
    save_draft,
    summarise,
    why_not_planned,
)
from hits.errors import DesignProblem, StudyFrozen
from hits.models import BackgroundJob, Study
from hits.models.design import StudyDesign
from hits.tasks import plan_size_of_study
from hits.views.choosing_filters import FILTERS, filter_chooser, pressed, wants_part_only
from hits.views.setting_fields import SMALLEST_DESIGN, SettingField
from hits.views.shown_pages import frame_of_draft
from hits.views.study_form_rows import dataset_rows, screening_rows, warm_up_rows
from hits.views.study_steps import STEPS, Step
from hits.views.typed_drafts import SWITCHES, typed_and_told, typed_in
from hits.views.waiting import wait_for_job

ASK_AGAIN_AFTER = timedelta(minutes=1)
CROWD = "crowd"
PLANNED_STEPS = ("plan", "analysis")  # with cost and planner beside the fields


@require_http_methods(["GET", "POST"])
def edit_study(request: HttpRequest, name: str, step: str) -> HttpResponse:
    study = study_for(request.user, name=name)
    current = next((found for found in STEPS if found.key == step), None)
    if current is None or study.is_frozen:
        return redirect("study", name=name)
    if request.method == "POST":
        return _save(request, study, current)
    return _render_step(request, study, current, _fingerprint(current, study.design))


def _render_step(
    request: HttpRequest,
    study: Study,
    current: Step,
    shown: str,
    status: int = 200,
    more: Mapping[str, Any] | None = None,
    template: str = "hits/edit_study.html",
) -> HttpResponse:
    """Render a step of the draft, or a part of it. `shown` tells the next save which stored values the page was made
    from."""
    checked = check_draft(study.design)
    problems = checked.problems
    context = {
        "study": study,
        "step": current,
        "shown": shown,
        "steps": [{"step": one, "problem_count": sum(one.owns(problem) for problem in problems)} for one in STEPS],
        "problems": [problem for problem in problems if current.owns(problem)],
        "fields": [_field_row(field, study, problems) for field in current.fields(study.design)],
        "is_planned": current.key in PLANNED_STEPS,
        "next_step": STEPS[STEPS.index(current) + 1] if current is not STEPS[-1] else None,
        **_extras(study, current, checked),
        **(more or {}),
    }
    return render(request, template, context, status=status)


@require_POST
def swap_fields(request: HttpRequest, name: str, step: str) -> HttpResponse:
    """Render the fields of a step after another protocol or crowd was chosen there, with what is typed; nothing is
    saved. Without JavaScript, saving does it."""
    study = study_for(request.user, name=name)
    current = next((found for found in STEPS if found.key == step), None)
    if current is None or study.is_frozen:
        return redirect("study", name=name)
    shown = request.POST.get("shown", "")
    study.design, told = typed_and_told(request.POST, study, step)
    return _render_step(request, study, current, shown, more={"told": told}, template="hits/_step_fields.html")


@require_http_methods(["GET", "POST"])
def choose_filters(request: HttpRequest, name: str) -> HttpResponse:
    """Render the part that chooses filters after one of its buttons was pressed; nothing is saved. Without JavaScript,
    the whole step is shown again, with what is typed."""
    study = study_for(request.user, name=name)
    if request.method == "GET" or study.is_frozen:
        return redirect("edit-study", name=name, step=CROWD)
    current = next(one for one in STEPS if one.key == CROWD)
    if "go" in request.POST:  # without JavaScript, the form now stands at this address, with its own buttons
        return _save(request, study, current)
    stored = _fingerprint(current, study.design)
    study.design, chooser = pressed(typed_in(request.POST, study, CROWD), request.POST)
    if not wants_part_only(request):
        shown = request.POST.get("shown", stored)
        return _render_step(request, study, current, shown, more={"chooser": chooser})
    if chooser is None:  # another crowd is chosen meanwhile, which has no such part
        return HttpResponse(status=204)
    is_new = any(row.is_new for row in chooser.rows)  # then it may well be without values
    problems = [] if is_new else check_draft(study.design).problems
    field = next(one for one in current.fields(study.design) if one.path == FILTERS)
    row = _field_row(field, study, problems)
    return render(request, "hits/fields/filters.html", {**row, "study": study, "chooser": chooser})


def _fingerprint(step: Step, settings: Mapping[str, Any]) -> str:
    values = [field.value_in(settings) for field in step.fields(settings)]
    return sha256(json.dumps(values, sort_keys=True, default=str).encode()).hexdigest()


def _field_row(field: SettingField, study: Study, problems: list[DesignProblem]) -> dict[str, Any]:
    value = field.value_in(study.design)
    choices = list(field.choices)
    if field.kind == "many":  # the chosen ones first and in their order, which is the order that is saved again
        order = {name: rank for rank, name in enumerate(value)}
        choices.sort(key=lambda choice: order.get(choice[0], len(order)))
    # A problem with one entry of a list (datasets.0.name) is shown at the list.
    own = [one.message for one in problems if one.field == field.path or one.field.startswith(f"{field.path}.")]
    decides = field.path in SWITCHES
    return {"field": field, "value": value, "choices": choices, "problems": own, "decides_fields": decides}


def _extras(study: Study, step: Step, checked: DraftCheck) -> dict[str, Any]:
    """Return what single steps show besides plain fields."""
    if step.key == "data":
        return {"datasets": dataset_rows(study.design)}
    if step.key == "task":
        return {"preview": _preview(study.design), "warm_up_replies": warm_up_rows(study.design)}
    if step.key == "checkpoints":
        return {"screening_rules": screening_rows(study.design)}
    if step.key == CROWD:
        return {"chooser": filter_chooser(study.design)}
    if step.key in PLANNED_STEPS:
        return {
            **_cost(study.design, checked),
            "not_planned": why_not_planned(study.design),
            "planned_measure": planned_measure(study.design),
        }
    return {}


@require_POST
def preview_task(request: HttpRequest, name: str) -> HttpResponse:
    """Render the worker's page with what is typed at this moment; nothing is saved."""
    study = study_for(request.user, name=name)
    return render(request, "hits/_task_preview.html", {"preview": _preview(typed_in(request.POST, study, "task"))})


@require_POST
def preview_cost(request: HttpRequest, name: str) -> HttpResponse:
    """Render cost and plan with what is typed at this moment in one of the steps that show them."""
    study = study_for(request.user, name=name)
    step = request.GET.get("step", "")
    typed = typed_in(request.POST, study, step if step in PLANNED_STEPS else PLANNED_STEPS[0])
    return render(request, "hits/_summary.html", _cost(typed, check_draft(typed)))


@require_GET
def show_plan(request: HttpRequest, name: str) -> HttpResponse:
    """Simulate what the study can show. For a large study that takes half a minute: a background process does it, and
    the page polls until the answer is there."""
    study = study_for(request.user, name=name)
    difference = request.GET.get("difference", "").strip()[:20]
    try:
        if is_quick_to_plan(study, difference):
            answer = plan_as_json(plan_study_size(study, difference), study.currency)
            return render(request, "hits/_plan.html", {"plan": answer, "has_asked": True})
        job = _plan_job(study, difference)
    except EvalPlatformError as error:
        return render(request, "hits/_plan.html", {"problem": str(error)})
    if job.finished_at is None:
        context: dict[str, Any] = {"wait": wait_for_job(job), "study": study, "difference": difference}
    else:
        context = {"plan": job.answer, "problem": job.problem, "has_asked": True}
    return render(request, "hits/_plan.html", context)


def _plan_job(study: Study, difference: str) -> BackgroundJob:
    """Return the last job for this question, unless it failed a while ago; then start a new one."""
    question = plan_question_id(study, difference)
    jobs = study.background_jobs.exclude(requested_at=None).filter(question=question)
    last = jobs.exclude(Q(finished_at__lt=timezone.now() - ASK_AGAIN_AFTER) & ~Q(problem="")).first()
    if last is not None and (last.finished_at or not is_anyone_listening()):
        return last  # the page polls every few seconds, and requests must not pile up while no process takes them
    return send_once(plan_size_of_study, study, difference, question=question)


def _save(request: HttpRequest, study: Study, step: Step) -> HttpResponse:
    typed, told = typed_and_told(request.POST, study, step.key)
    stored = _fingerprint(step, study.design)
    if request.POST.get("shown", stored) not in (stored, _fingerprint(step, typed)):
        # Another tab or another member saved this step meanwhile: nobody's words are overwritten unseen.
        mine = {field.path: field.value_in(typed) for field in step.fields(typed)}
        theirs = [one for one in step.fields(study.design) if mine.get(one.path) != one.value_in(study.design)]
        messages.error(
            request,
            "This step was saved elsewhere since you opened it, so it is not saved yet. Below is what you typed; other "
            f"than stored: {', '.join(field.label for field in theirs)}. Save again to keep yours.",
        )
        study.design = typed
        return _render_step(request, study, step, stored, status=409)
    try:
        save_draft(study, typed)
    except StudyFrozen as frozen:
        messages.error(request, str(frozen))
        return redirect("study", name=study.name)
    messages.success(request, "The draft is saved.")
    if told:
        messages.info(request, told)
        return redirect("edit-study", name=study.name, step=step.key)
    following = request.POST.get("go", "")
    if following in [one.key for one in STEPS]:
        return redirect("edit-study", name=study.name, step=following)
    return redirect("study", name=study.name)


def _cost(settings: dict[str, Any], checked: DraftCheck) -> dict[str, Any]:
    """Return what the panel of costs shows: the summary, or what has to be solved before there is one."""
    if checked.problems:
        return {"in_the_way": checked.problems}
    return {"summary": summarise(StudyDesign.model_validate(settings), checked.selections)}


def _preview(settings: dict[str, Any]) -> str | None:
    """Return the worker's page of this draft; None while what is typed makes no valid task."""
    task: dict[str, Any] = {name: settings[name] for name in ("protocol", "task", "warm_up") if name in settings}
    task["crowd"] = {"name": crowd_in(settings).name}
    # Use the whole draft, for its pay and size; while another step has problems, use this step's part with defaults.
    for tried in (settings, SMALLEST_DESIGN | task):
        with suppress(ValidationError):
            return frame_of_draft(StudyDesign.model_validate(tried))
    return None
