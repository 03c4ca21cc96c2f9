"""Creates, changes and copies studies: which names are free, and that a frozen design never changes."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from evalplatform.errors import EvalPlatformError
from hits.crowds import FIRST_CHOICE
from hits.designing.design_problems import parse_design, problems_of
from hits.designing.switching_crowds import switch_crowd
from hits.errors import InvalidStudy, StudyFrozen
from hits.models import Study
from hits.models.design import NAME_PATTERN, StudyDesign


def read_study_file(path: Path) -> dict[str, Any]:
    """Return the settings in a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EvalPlatformError(f"{path} can't be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EvalPlatformError(f"{path.name} is not valid TOML: {error}.") from error


def create_study(settings: Mapping[str, Any], owner: User | None = None) -> Study:
    """Create a checked draft. Raises InvalidStudy with every problem.

    Creating the same settings again returns the existing study; if it has no owner, it gets the one that is named.
    """
    design = checked_design(settings)
    known = Study.objects.filter(name=design.name).select_related("owner").first()
    if known:
        if _is_same_design(known.design, design):
            return _set_owner(known, owner)
        raise EvalPlatformError(
            f"There is a study named {design.name!r} with another design. Change the name in the file, "
            f"or edit the draft in the pages."
        )
    return Study.objects.create(name=design.name, design=design.as_json(), owner=owner)


def _set_owner(study: Study, owner: User | None) -> Study:
    if owner is not None and study.owner is None:
        Study.objects.filter(pk=study.pk, owner=None).update(owner=owner)
        study.refresh_from_db()
    if owner is not None and study.owner != owner:
        raise EvalPlatformError(f"{study} is {study.owner}'s: owners invite members on the study's page.")
    return study


def _is_same_design(settings: Mapping[str, Any], design: StudyDesign) -> bool:
    try:
        return parse_design(settings) == design
    except InvalidStudy:
        return False


def checked_design(settings: Mapping[str, Any]) -> StudyDesign:
    """Return the design, checked against the data. Raises InvalidStudy with every problem."""
    if problems := problems_of(settings):
        raise InvalidStudy(problems)
    return parse_design(settings)


def start_draft(name: str, owner: User | None) -> Study:
    """Create an empty draft for the form. Everything but the name, and by which crowd it can reach people, is still to
    come."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise EvalPlatformError(f"{name!r} can't be a study's name: use small letters, digits and hyphens.")
    design, _ = switch_crowd({"name": name}, FIRST_CHOICE)
    try:
        with transaction.atomic():
            return Study.objects.create(name=name, design=design, owner=owner)
    except IntegrityError:
        raise EvalPlatformError(f"The name {name!r} is taken; choose another.") from None


def save_draft(study: Study, settings: Mapping[str, Any]) -> None:
    """Save what was typed, right or wrong. The study's name stays."""
    design = {**settings, "name": study.name}
    # In one statement, because the study may have been frozen since the caller read it.
    if not Study.objects.drafts().filter(pk=study.pk).update(design=design):
        raise StudyFrozen(f"{study} is frozen: its design can no longer be changed. Copy it into a new study instead.")
    study.design = design


@transaction.atomic
def copy_study(study: Study, name: str, owner: User | None = None) -> Study:
    """Create a draft with the same design and another name."""
    copy = start_draft(name, owner)
    copy.design = {**study.design, "name": name}
    copy.copied_from = study
    copy.save(update_fields=["design", "copied_from"])
    return copy


def get_study(name: str) -> Study:
    """Return the study with this name, or raise with the names that exist."""
    study = Study.objects.filter(name=name).first()
    if study is None:
        known = ", ".join(Study.objects.order_by("name").values_list("name", flat=True)[:10]) or "none yet"
        raise EvalPlatformError(f"There is no study named {name!r}. Studies: {known}.")
    return study
