"""Who sees a study: its owner, the members whom the owner has invited, and superusers. For others it does not exist.

In: a user and which study they mean. Out: the study, or a page that is not found. Guaranteed: every page and every
endpoint on a study comes through `study_for`; who is invited and who is taken out again is in the event log.
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
    """Not found and not allowed look the same."""
    study = visible_studies(user).filter(**which).first()
    if study is None:
        raise Http404("There is no such study.")
    return study


def visible_studies(user: User | AnonymousUser) -> StudyQuerySet:
    if not isinstance(user, User):
        return Study.objects.none()
    return Study.objects.visible_to(user).select_related("owner")


def can_invite(study: Study, user: User | None) -> bool:
    """Members may do all else that the owner does."""
    return user is not None and (user.is_superuser or study.owner == user)


@transaction.atomic
def invite(study: Study, user_name: str, by: User, now: datetime) -> User:
    _check_can_invite(study, by)
    user = User.objects.filter(username=user_name, is_active=True).first()
    if user is None:
        raise EvalPlatformError(f"Nobody here has the user name {user_name!r}. Ask for it: capitals count.")
    if user == study.owner:
        raise EvalPlatformError(f"The study is {user}'s own.")
    _, is_new = Membership.objects.get_or_create(study=study, user=user, defaults={"invited_at": now})
    if not is_new:
        raise EvalPlatformError(f"{user} is a member already.")
    Event.objects.create(study=study, at=now, actor=by, text=f"invited {user} to the study")
    return user


@transaction.atomic
def take_out(study: Study, user_name: str, by: User, now: datetime) -> None:
    """By the owner; a member may also leave."""
    if by.username != user_name:
        _check_can_invite(study, by)
    taken, _ = Membership.objects.filter(study=study, user__username=user_name).delete()
    if not taken:
        raise EvalPlatformError(f"{user_name!r} is no member of {study}.")
    text = "left the study" if by.username == user_name else f"took {user_name} out of the study"
    Event.objects.create(study=study, at=now, actor=by, text=text)


def _check_can_invite(study: Study, by: User) -> None:
    if not can_invite(study, by):
        raise EvalPlatformError("Only the study's owner invites members and takes them out.")
