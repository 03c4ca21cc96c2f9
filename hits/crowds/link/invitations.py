"""Makes personal invitations from a list of people, and new links for those who need one.

In: an offering by link, and people. Out: an invitation each. Guaranteed: nobody gets a second one by another paste of
the same list, nor by two at once; who is invited stands in the rows alone, never in a log.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.access import note_event, pseudonym
from hits.crowds.link.entering import short_key
from hits.crowds.link.invited_list import Person
from hits.crowds.link.link_environments import INVITED, LINK
from hits.crowds.link.secret_links import new_key
from hits.models import Assignment, Departure, Invitation, Offering, OpenLink, Outcome, Study

MOST_INVITATIONS = 2000


@dataclass(frozen=True)
class Invited:
    """What became of a list: people who are new, who were there, and who were there without an address."""

    new: int = 0
    known: int = 0
    completed: int = 0

    @property
    def in_words(self) -> str:
        parts = [f"{count_of(self.new, 'rater')} invited"]
        if self.completed:
            parts.append(f"{count_of(self.completed, 'address', 'addresses')} added to names that were there")
        if self.known:
            parts.append(f"{count_of(self.known, 'line')} about people who were invited already")
        return "; ".join(parts)


@transaction.atomic
def invite_raters(offering: Offering, people: Sequence[Person], by: User | None, now: datetime) -> Invited:
    """Make an invitation for everyone who has none: people are known by their address or, without one, by their name.

    A line with a name that was invited without an address brings that address.
    """
    if offering.crowd != LINK:
        raise EvalPlatformError(f"People are invited to studies by link, and this is {offering.marketplace}.")
    Study.objects.select_for_update().get(pk=offering.study_id)
    known = list(Invitation.objects.filter(offering=offering))
    by_email = {one.email.casefold(): one for one in known if one.email}
    by_name: dict[str, list[Invitation]] = {}
    for one in known:
        by_name.setdefault(one.name.casefold(), []).append(one)
    new, completed = 0, set()
    for person in people:
        named = by_name.setdefault(person.name.casefold(), []) if person.name else []
        if person.email.casefold() in by_email or (named and not person.email):
            continue
        bare = next((one for one in named if not one.email), None)
        if bare is not None:
            Invitation.objects.filter(pk=bare.pk).update(email=person.email)
            bare.email = person.email
            by_email[person.email.casefold()] = bare
            completed.add(bare.pk)
            continue
        if len(known) + new >= MOST_INVITATIONS:
            raise EvalPlatformError(f"The study has {MOST_INVITATIONS:,} invitations: nobody of this list was added.")
        made = Invitation.objects.create(
            offering=offering,
            key=new_key(),
            worker_id=f"{INVITED}_{secrets.token_hex(10)}",
            name=person.name,
            email=person.email,
            made_by=by,
            made_at=now,
        )
        named.append(made)
        if made.email:
            by_email[made.email.casefold()] = made
        new += 1
    if new:
        link_of_invited(offering, now)
        note_event(offering.study, f"invited {count_of(new, 'rater')} by name ({offering.marketplace})", by, now)
    return Invited(new, len(people) - new - len(completed), len(completed))


def link_of_invited(offering: Offering, now: datetime) -> OpenLink:
    """Return the row under which invited people are counted with those who came by links. Its own address opens
    nothing (`open_links.find_link`)."""
    link, _ = OpenLink.objects.get_or_create(
        offering=offering,
        prefix=INVITED,
        defaults={"label": "Personal invitations", "key": short_key(), "made_at": now, "closed_at": now},
    )
    return link


def may_one_more_decline(link: OpenLink) -> bool:
    """Return whether fewer have declined than were invited and have not agreed. Nobody notes who it was (decision 35),
    so this is the limit to what one rater can make of the number."""
    declined = Departure.objects.filter(link=link, outcome=Outcome.NO_CONSENT).count()
    agreed = Assignment.objects.filter(offering=link.offering, consented_at__isnull=False)
    invited = Invitation.objects.filter(offering=link.offering)
    return declined < invited.exclude(worker_id__in=agreed.values("crowd_worker_id")).count()


@transaction.atomic
def give_new_link(invitation: Invitation, by: User | None, now: datetime) -> None:
    """Give a rater another link, for instance because somebody else has seen theirs. The earlier one opens nothing any
    more."""
    invitation.key = new_key()
    Invitation.objects.filter(pk=invitation.pk).update(key=invitation.key)
    study = invitation.offering.study
    who = pseudonym(study, invitation.worker_id)
    note_event(study, f"gave {who} a new personal link ({invitation.offering.marketplace})", by, now)


def recruited_by(offering: Offering, usual: str) -> str:
    """Return how those who handed in work were recruited, for the methods, given how people usually are there."""
    workers = Assignment.objects.filter(offering=offering, submission__isnull=False)
    by_name = workers.filter(crowd_worker_id__startswith=f"{INVITED}_")
    if not usual or offering.crowd != LINK or not by_name.exists():
        return usual
    others = workers.exclude(pk__in=by_name).exists()
    return f"by personal invitation and {usual}" if others else "by personal invitation"


def note_opened(invitation: Invitation, now: datetime) -> None:
    Invitation.objects.filter(pk=invitation.pk, opened_at=None).update(opened_at=now)
