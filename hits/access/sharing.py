"""Decides who may see a study (its owner, invited members and superusers); invites and removes members.

What comes in: a user and which study they mean. What goes out: the study, or "not found". What is guaranteed: every
page and every endpoint about a study comes through `study_for`; every invitation and removal is in the event log.
"""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import Http404

from evalplatform.errors import EvalPlatformError
from hits.models import Event, Membership, Study
from hits.models.study import StudyQuerySet


def study_for(user: User | AnonymousUser, **which: Any) -> Study:
    """Return the study if this user may see it. Otherwise it looks as if it did not exist."""
    study = visible_studies(user).filter(**which).first()
    if study is None:
        raise Http404("There is no such study.")
    return study


def visible_studies(user: User | AnonymousUser) -> StudyQuerySet:
    """Return all studies that this user may see."""
    if not isinstance(user, User):
        return Study.objects.none()
    return Study.objects.visible_to(user).select_related("owner")


def can_invite(study: Study, user: User | None) -> bool:
    """Return whether this user may invite members. Members may do everything else that the owner may do."""
    return user is not None and (user.is_superuser or study.owner == user)


@transaction.atomic
def invite(study: Study, user_name: str, by: User, now: datetime) -> User:
    """Make a user a member of the study."""
    _check_can_invite(study, by)
    user = User.objects.filter(username=user_name, is_active=True).first()
    if user is None:
        raise EvalPlatformError(f"Nobody here has the user name {user_name!r}. Ask them for it; capitals matter.")
    if user == study.owner:
        raise EvalPlatformError(f"The study is {user}'s own.")
    _, is_new = Membership.objects.get_or_create(study=study, user=user, defaults={"invited_at": now})
    if not is_new:
        raise EvalPlatformError(f"{user} is a member already.")
    Event.objects.create(study=study, at=now, actor=by, text=f"invited {user} to the study")
    return user


@transaction.atomic
def remove_member(study: Study, user_name: str, by: User, now: datetime) -> None:
    """Remove a member from the study. The owner may do so, and members may remove themselves."""
    if by.username != user_name:
        _check_can_invite(study, by)
    taken, _ = Membership.objects.filter(study=study, user__username=user_name).delete()
    if not taken:
        raise EvalPlatformError(f"{user_name!r} is not a member of {study}.")
    text = "left the study" if by.username == user_name else f"removed {user_name} from the study"
    Event.objects.create(study=study, at=now, actor=by, text=text)


def _check_can_invite(study: Study, by: User) -> None:
    if not can_invite(study, by):
        raise EvalPlatformError("Only the study's owner can invite and remove members.")
