"""Makes, opens and revokes share links, which show one study's results to people without an account.

What comes in: an offering and its owner, or the token of a link. What goes out: a token, shown once, or the link that
it opens. What is guaranteed: we store only the token's hash; a link that has expired or was revoked opens nothing, and
nobody can tell it from one that never existed; making, revoking and first opening it are in the event log.
"""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access.events import note_event
from hits.access.sharing import can_invite
from hits.models import Offering, ShareLink, Study
from hits.models.api_token import hash_of
from hits.models.event import OPENED_LINK
from hits.models.share_link import ShareLinkQuerySet

MOST_LINKS = 20
MOST_DAYS = 365
NOTED_EVERY = timedelta(hours=1)  # so that not every look writes a row


@transaction.atomic
def make_share_link(
    offering: Offering, label: str, days: int, shows_dialogs: bool, by: User | None, now: datetime
) -> str:
    """Make a link and return its token, which nobody can see again."""
    _check_may_share(offering.study, by)
    label = " ".join(label.split())
    if not 1 <= len(label) <= 60:
        raise EvalPlatformError("Say in up to 60 letters whom the link is for, so that you recognise it later.")
    if not 1 <= days <= MOST_DAYS:
        raise EvalPlatformError(f"A link lasts from 1 to {MOST_DAYS} days.")
    if valid_links(offering.study, now).count() >= MOST_LINKS:
        raise EvalPlatformError(f"The study has {MOST_LINKS} links already; revoke one that nobody needs.")
    token = secrets.token_urlsafe(32)
    ShareLink.objects.create(
        offering=offering,
        label=label,
        token_hash=hash_of(token),
        shows_dialogs=shows_dialogs,
        made_by=by,
        made_at=now,
        expires_at=now + timedelta(days=days),
    )
    what = "results and dialogs" if shows_dialogs else "results"
    note_event(offering.study, f"shared the {what} by a link for {count_of(days, 'day')}: {label}", by, now)
    return token


@transaction.atomic
def revoke_share_link(study: Study, key: int, by: User | None, now: datetime) -> None:
    _check_may_share(study, by)
    link = ShareLink.objects.filter(offering__study=study, pk=key, revoked_at=None).first()
    if link is None:
        raise EvalPlatformError("There is no such link any more.")
    ShareLink.objects.filter(pk=link.pk).update(revoked_at=now)
    note_event(study, f"revoked a share link: {link.label}", by, now)


def valid_links(study: Study, now: datetime) -> ShareLinkQuerySet:
    return ShareLink.objects.valid(now).filter(offering__study=study)


def open_share_link(token: str, now: datetime) -> ShareLink | None:
    """Return the link of this token, or None if it opens nothing; note that it was used."""
    links = ShareLink.objects.valid(now).select_related("offering__study")
    found = links.filter(token_hash=hash_of(token)).first()
    if found is None:
        return None
    first = ShareLink.objects.filter(pk=found.pk, used_at=None).update(used_at=now)
    if first:
        note_event(found.offering.study, f"{OPENED_LINK}: {found.label}", None, now)
    elif found.used_at is None or now - found.used_at > NOTED_EVERY:
        ShareLink.objects.filter(pk=found.pk).update(used_at=now)
    return found


def _check_may_share(study: Study, by: User | None) -> None:
    if not can_invite(study, by):
        raise EvalPlatformError("Only the study's owner can share its results by a link.")
