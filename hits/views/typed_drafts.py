"""Reads what is typed in a step of the study form into a draft; another protocol or crowd changes further settings.

In: the form as a browser sends it, and the stored study. Out: the draft as typed, and what to tell of the change.
Nothing is saved here.
"""

from typing import Any

from django.http import QueryDict

from hits.crowds import crowd_in
from hits.designing import switch_crowd, switch_protocol
from hits.models import Study
from hits.protocols import protocol_in
from hits.views.setting_fields import get_setting, set_setting
from hits.views.study_steps import STEPS


def typed_in(post: QueryDict, study: Study, step_key: str) -> dict[str, Any]:
    return typed_and_told(post, study, step_key)[0]


def typed_and_told(post: QueryDict, study: Study, step_key: str) -> tuple[dict[str, Any], str]:
    """Return the draft with what is typed in this step; and if that chooses another protocol or crowd, which changes
    further settings, what to tell about these. The form is then shown again."""
    step = next(one for one in STEPS if one.key == step_key)
    stored = dict(study.design)
    shown = _as_shown(post, stored)
    settings, fields = shown, step.fields(shown)
    if shown is not stored and all(post.get(path) == get_setting(stored, path) for path in SWITCHES if path in post):
        # Who chooses the stored one again gets its settings back, with what was typed into the fields that both have.
        of_stored = step.fields(stored)
        settings, fields = stored, [field for field in fields if field in of_stored]
    chosen = {}
    for field in fields:
        if field.path in SWITCHES:
            if post.get(field.path) and post[field.path] != get_setting(settings, field.path):
                chosen[field.path] = field.read(post)
        elif not field.is_unchanged(post, shown):
            settings = set_setting(settings, field.path, field.read(post))
    # The form's other fields are still the former protocol's or crowd's, so they are read before.
    told = ""
    for path, name in chosen.items():
        settings, told = SWITCHES[path](settings, name)
    return settings, told


def _as_shown(post: QueryDict, stored: dict[str, Any]) -> dict[str, Any]:
    """Return the draft whose fields the form has: of another protocol or crowd than the stored one if the form's fields
    were swapped since (hits.views.study_form.swap_fields)."""
    settings = stored
    for path, switch in SWITCHES.items():
        shown = post.get(f"fields-of.{path}")
        if shown and shown != get_setting(stored, path):
            settings, _ = switch(settings, shown)
    return settings


def _switch_protocol(settings: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    switched, removed = switch_protocol(settings, name)
    if protocol_in(switched) is protocol_in(settings):
        return switched, ""
    gone = f" Removed, because only the former one has them: {', '.join(removed)}." if removed else ""
    return switched, f"People are asked in another way now: please read this step's texts and settings.{gone}"


def _switch_crowd(settings: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    switched, told = switch_crowd(settings, name)
    if crowd_in(switched) is crowd_in(settings):
        return switched, ""
    lead = "The study is meant for another crowd now: please read its settings here, its pay, and its texts."
    return switched, " ".join([lead, *told])


# Choosing another one of these changes other settings, too.
SWITCHES = {"protocol": _switch_protocol, "crowd.name": _switch_crowd}
