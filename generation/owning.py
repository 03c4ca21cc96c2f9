"""Decide who may change datasets, models and runs. Everyone on the server may read and use them.

Owners change what is theirs. Superusers run the server and may change everything. What has no owner (because a command
made it without --owner, or because the owner's account was deleted) can be changed by superusers only, as with studies.
"""

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet

from evalplatform.errors import EvalPlatformError
from generation.models import Dataset, GenerationRun, Generator

Requester = User | AnonymousUser


def can_change(user: Requester, thing: Dataset | Generator) -> bool:
    return user.is_superuser or (thing.owner_id is not None and thing.owner_id == user.pk)


def can_steer(user: Requester, run: GenerationRun) -> bool:
    """Return whether the user may pause, resume and cancel a run, because they requested it or own the model."""
    return can_change(user, run.generator) or (run.requested_by_id is not None and run.requested_by_id == user.pk)


def refuse_unless(is_allowed: bool) -> None:
    if not is_allowed:
        raise PermissionDenied


def find_owner(name: str | None) -> User | None:
    """Return the user whom a command's --owner names."""
    if not name:
        return None
    user = User.objects.filter(username=name.replace("\0", "")).first()
    if user is None:
        raise EvalPlatformError(f"Nobody here has the user name {name!r}.")
    return user


def give_owner(things: QuerySet[Dataset] | QuerySet[Generator], owner: User | None) -> None:
    """Make the user the owner of those things that have none. `manage.py set_owner` hands over what somebody owns."""
    if owner is not None:
        things.filter(owner=None).update(owner=owner)
