"""Makes, changes and closes the links of an offering, and finds a link by the key in its address."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from evalplatform.errors import EvalPlatformError
from hits.crowds.link.entering import prefix_of, short_key
from hits.crowds.link.leaving import check_address
from hits.crowds.link.link_environments import NO_OPEN_LINKS
from hits.crowds.link.presets import PRESETS
from hits.models import Event, Offering, OpenLink, Outcome

FIRST_LABEL = "Open link"
MOST_LINKS = 50
PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class LinkSettings:
    """What a researcher says about a link: five fields."""

    label: str
    parameters: str = ""  # of the worker's id and, after a comma, of the session
    way: str = OpenLink.Way.CODE
    address: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)
    preset: str = "own"


class LinkRefused(EvalPlatformError):
    """A setting of a link can't be as it is. `field` is the one to look at."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def find_link(key: str) -> OpenLink | None:
    open_ones = OpenLink.objects.exclude(prefix__in=NO_OPEN_LINKS)
    return open_ones.select_related("offering__study").filter(key=key).first()


def links_of(offering: Offering) -> list[OpenLink]:
    return list(OpenLink.objects.filter(offering=offering).exclude(prefix__in=NO_OPEN_LINKS))


def link_address(link: OpenLink) -> str:
    """Return the address to pass on, with what a service has to fill in."""
    address = f"{settings.PUBLIC_URL}/join/{link.key}/"
    preset = PRESETS.get(link.preset, PRESETS["own"])
    if preset.name != "own":  # a service that we know: it fills its own word in, or adds the parameters itself
        return f"{address}?{link.worker_parameter}={preset.fills}" if preset.fills else address
    named = {link.worker_parameter: "ID", link.session_parameter: "SESSION"}
    query = "&".join(f"{name}={value}" for name, value in named.items() if name)
    return f"{address}?{query}" if query else address


def ensure_first_link(offering: Offering, now: datetime) -> None:
    """Make the link that every published offering has: without ids, for whoever gets it."""
    if not OpenLink.objects.filter(offering=offering).exclude(prefix__in=NO_OPEN_LINKS).exists():
        OpenLink.objects.get_or_create(
            offering=offering,
            prefix=prefix_of(FIRST_LABEL),
            defaults={"label": FIRST_LABEL, "key": short_key(), "made_at": now},
        )


def make_link(offering: Offering, said: LinkSettings, by: User | None, now: datetime) -> OpenLink:
    """Make a link. Raises LinkRefused with one line on what is wrong."""
    label = " ".join(said.label.split())
    if not 1 <= len(label) <= 60:
        raise LinkRefused("Name the link in up to 60 letters, such as SONA or Poster in the canteen.", "label")
    worker, session = _read_parameters(said.parameters)
    if said.way not in OpenLink.Way.values:
        raise LinkRefused("Choose how people leave.", "way")
    address = _read_address(said)
    _check_placeholders(address, worker, session, said.codes)
    prefix = prefix_of(label)
    taken = OpenLink.objects.filter(offering=offering)
    if prefix in NO_OPEN_LINKS or taken.filter(prefix=prefix).exists():
        raise LinkRefused(
            "Another link of this study has a name like this one: choose one that begins differently.", "label"
        )
    if taken.count() >= MOST_LINKS:
        raise LinkRefused(f"The study has {MOST_LINKS} links already.", "label")
    try:
        with transaction.atomic():
            link = OpenLink.objects.create(
                offering=offering,
                key=short_key(),
                label=label,
                preset=said.preset if said.preset in PRESETS else "own",
                prefix=prefix,
                worker_parameter=worker,
                session_parameter=session,
                way=said.way,
                address=address,
                codes=dict(said.codes),
                made_by=by,
                made_at=now,
            )
    except IntegrityError:
        raise LinkRefused("Another link was made just now: please try again.", "label") from None
    _note(offering, f"made the link “{label}” ({offering.marketplace})", by, now)
    return link


def close_link(offering: Offering, key: str, by: User | None, now: datetime) -> OpenLink:
    """Let nobody new in by this link. Whoever has begun may finish."""
    return _change(offering, key, now, "closed", by, now)


def reopen_link(offering: Offering, key: str, by: User | None, now: datetime) -> OpenLink:
    return _change(offering, key, None, "opened", by, now)


def limit_addresses(offering: Offering, key: str, is_limited: bool, by: User | None, now: datetime) -> OpenLink:
    """Say whether one network address may take only so many places by this link, or as many as come from a class."""
    link = _find(offering, key)
    if OpenLink.objects.filter(pk=link.pk, is_for_one_network=is_limited).update(is_for_one_network=not is_limited):
        what = "limits the places of one network" if is_limited else "is for a class or lab in one network"
        _note(offering, f"decided: the link “{link.label}” {what} ({offering.marketplace})", by, now)
    return link


def _change(
    offering: Offering, key: str, closed_at: datetime | None, what: str, by: User | None, now: datetime
) -> OpenLink:
    link = _find(offering, key)
    if OpenLink.objects.filter(pk=link.pk, closed_at__isnull=closed_at is not None).update(closed_at=closed_at):
        _note(offering, f"{what} the link “{link.label}” ({offering.marketplace})", by, now)
    return link


def _find(offering: Offering, key: str) -> OpenLink:
    link = OpenLink.objects.filter(offering=offering, key=key).first()
    if link is None:
        raise EvalPlatformError("There is no such link.")
    return link


def _note(offering: Offering, text: str, by: User | None, now: datetime) -> None:
    Event.objects.create(study=offering.study, at=now, actor=by, text=text)


# --- What was typed --------------------------------------------------------------------------------------------------


def _read_parameters(typed: str) -> tuple[str, str]:
    names = [name.strip() for name in typed.split(",") if name.strip()]
    wrong = next((name for name in names if not PARAMETER.fullmatch(name)), None)
    if wrong is not None or len(names) > 2 or len(set(names)) < len(names):
        raise LinkRefused(
            "Write the name of the parameter with people's id and, if you need it, a comma and that of the session: "
            "participantId, assignmentId. Leave it empty if the addresses carry no ids.",
            "parameters",
        )
    worker, session = [*names, "", ""][:2]
    return worker, session


def _read_address(said: LinkSettings) -> str:
    if said.way == OpenLink.Way.CODE:
        return ""
    if not said.address.strip():
        raise LinkRefused("Write the address to which people go, or which this server is to call.", "address")
    try:
        preset = PRESETS.get(said.preset, PRESETS["own"])
        return check_address(preset.filled_in(said.address))
    except EvalPlatformError as error:
        raise LinkRefused(str(error), "address") from error


def _check_placeholders(address: str, worker: str, session: str, codes: Mapping[str, str]) -> None:
    if "{worker}" in address and not worker:
        raise LinkRefused("The address has {worker} in it, but no parameter brings people's id.", "parameters")
    if "{session}" in address and not session:
        raise LinkRefused("The address has {session} in it, but no parameter brings the session.", "parameters")
    for outcome, code in codes.items():
        if outcome not in Outcome.values:
            raise LinkRefused(f"“{outcome}” is no outcome; known are {', '.join(Outcome.values)}.", "codes")
        if not CODE.fullmatch(code):
            raise LinkRefused(f"The code “{code[:40]}” has other signs in it than letters, digits, - and _.", "codes")


def read_codes(typed: str) -> dict[str, str]:
    """Read a code for each outcome: lines such as `finished: C1A2B3`."""
    codes = {}
    for line in filter(str.strip, typed.splitlines()):
        outcome, found, code = line.partition(":")
        if not found:
            raise LinkRefused(f"“{line.strip()[:40]}” is not of the form “finished: C1A2B3”.", "codes")
        codes[" ".join(outcome.lower().split())] = code.strip()
    return codes
