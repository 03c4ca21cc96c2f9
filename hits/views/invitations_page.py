"""Shows raters who were invited by name, and how far each is; adds, revokes and restores them, and writes to them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from evalplatform.errors import EvalPlatformError
from evalplatform.wording import count_of
from hits.crowds import (
    USUAL_LETTERS,
    Invited,
    LetterRefused,
    ReadList,
    check_letter,
    check_may_change,
    crowd_of,
    decode_list,
    give_new_link,
    has_mail_server,
    invite_raters,
    lines_of,
    link_of_invited,
    needs_a_person,
    personal_link,
    read_list,
    write_again,
    write_letters,
)
from hits.models import Departure, Invitation, Letter, Mailing, Offering, Outcome
from hits.monitoring import InvitedRater, list_invited
from hits.serving import restore_invitation, revoke_invitation
from hits.tasks import send_letters_soon
from hits.views.refused import STATUS, FieldRefused, Refused, refused_form
from hits.views.study_pages import find_offering, page_address, surroundings, tells_refusals, user_of

RATERS_PER_PAGE = 100
MOST_PROBLEMS_SHOWN = 20
Kind = Mailing.Kind


@dataclass(frozen=True)
class _Shown:
    """What a refused form adds to the page."""

    refused: Refused | None = None
    problems: Sequence[str] = ()  # of lines of the list
    added: str = ""


@require_http_methods(["GET", "POST"])
@never_cache
@tells_refusals
def show_or_add(request: HttpRequest, name: str) -> HttpResponse:
    offering = find_invited(request, name)
    if request.method == "GET":
        return _render(request, offering)
    check_may_change(offering)
    try:
        read = read_list(_typed_list(request))
        if not read.people and not read.problems:
            raise FieldRefused("raters-list", "Paste a list, or choose a file: one rater a line.")
        invited = invite_raters(offering, read.people, user_of(request), timezone.now())
    except EvalPlatformError as error:
        typed = {"list": request.POST.get("list", "")}
        return _render(request, offering, _Shown(refused_form("raters", error, typed, "raters-list")))
    return _after_adding(request, offering, read, invited)


def _typed_list(request: HttpRequest) -> str:
    file = request.FILES.get("file")
    return decode_list(file.read()) if file is not None else request.POST.get("list", "")


def _after_adding(request: HttpRequest, offering: Offering, read: ReadList, invited: Invited) -> HttpResponse:
    if not read.problems:
        messages.success(request, f"{invited.in_words}.")
        return _back(offering)
    error = FieldRefused("raters-list", f"{count_of(len(read.problems), 'line')} could not be read; the others were.")
    lines = dict(enumerate(request.POST.get("list", "").splitlines(), start=1))
    # The others are invited already. Of a file, a line's beginning is shown.
    typed = {"list": "\n".join(lines.get(one.line, one.text) for one in read.problems)}
    problems = list(lines_of(read.problems))
    shown = problems[:MOST_PROBLEMS_SHOWN]
    if len(problems) > len(shown):
        shown.append(f"And {count_of(len(problems) - len(shown), 'line')} more.")
    return _render(request, offering, _Shown(refused_form("raters", error, typed), shown, f"{invited.in_words}."))


@require_POST
@tells_refusals
def change(request: HttpRequest, name: str, key: int) -> HttpResponse:
    """Revoke an invitation, restore it, give a new link, or send the last letter again."""
    offering = find_invited(request, name)
    check_may_change(offering)
    invitation = Invitation.objects.select_related("offering__study").filter(offering=offering, pk=key).first()
    act = CHANGES.get(request.POST.get("do", ""))
    if invitation is None or act is None:
        raise Http404("There is no such invitation.")
    messages.success(request, act(request, invitation))
    return _back(offering, request.POST.get("page", ""))


def _revoke(request: HttpRequest, invitation: Invitation) -> str:
    revoke_invitation(invitation, user_of(request), timezone.now())
    return f"{invitation.who}'s link opens nothing any more. What they handed in stays."


def _restore(request: HttpRequest, invitation: Invitation) -> str:
    restore_invitation(invitation, user_of(request), timezone.now())
    return f"{invitation.who} can go on, by the same link."


def _renew(request: HttpRequest, invitation: Invitation) -> str:
    give_new_link(invitation, user_of(request), timezone.now())
    return f"{invitation.who} has a new link; the earlier one opens nothing any more."


def _write_again(request: HttpRequest, invitation: Invitation) -> str:
    last = Letter.objects.filter(invitation=invitation).last()
    if last is None:
        raise EvalPlatformError("Nobody has written to this rater yet.")
    write_again(last, timezone.now())
    send_letters_soon()
    return f"The letter to {invitation.who} is sent again within a minute or two."


CHANGES: dict[str, Callable[[HttpRequest, Invitation], str]] = {
    "revoke": _revoke,
    "restore": _restore,
    "renew": _renew,
    "write-again": _write_again,
}


@require_POST
@never_cache
@tells_refusals
def write(request: HttpRequest, name: str) -> HttpResponse:
    """Write to all who were not written to yet, or remind all who have not finished."""
    offering, typed = find_invited(request, name), request.POST
    check_may_change(offering)
    kind = Kind.REMINDER if typed.get("kind") == Kind.REMINDER else Kind.INVITATION
    try:
        if not has_mail_server():
            raise EvalPlatformError("This server has no mail server: set EMAIL_HOST and EMAIL_FROM.")
        written = check_letter(typed.get("subject", ""), typed.get("text", ""))
        press = UUID(typed.get("press", ""))
    except LetterRefused as error:
        refused = refused_form(kind, FieldRefused(f"{kind}-{error.field}", str(error)), typed.dict())
        return _render(request, offering, _Shown(refused))
    except (EvalPlatformError, ValueError) as error:
        problem = EvalPlatformError(str(error) if isinstance(error, EvalPlatformError) else "Please press again.")
        return _render(request, offering, _Shown(refused_form(kind, problem, typed.dict())))
    to = addressees(list_invited(offering), kind)
    count = write_letters(offering, kind, written, to, press, user_of(request), timezone.now())
    if count:
        send_letters_soon()
        messages.success(request, f"{count_of(count, 'letter')} to send: this takes a minute or two.")
    else:
        messages.info(request, "Nothing was sent: this was pressed before, or there is nobody to write to.")
    return _back(offering)


def addressees(raters: Iterable[InvitedRater], kind: Kind) -> list[Invitation]:
    """Return whom a letter of this kind would go to: those who have an address, and were not written to or can still do
    something."""
    reachable = [one for one in raters if one.invitation.email and one.invitation.revoked_at is None]
    if kind == Kind.REMINDER:
        return [one.invitation for one in reachable if one.may_be_reminded]
    return [one.invitation for one in reachable if one.letter is None or one.letter.dropped_at is not None]


# --- The page --------------------------------------------------------------------------------------------------------


def find_invited(request: HttpRequest, name: str) -> Offering:
    offering = find_offering(request, name)
    if not crowd_of(offering).abilities.comes_by_links:
        raise EvalPlatformError(f"Raters are invited by name to studies by link, and this is {offering.marketplace}.")
    return offering


def _back(offering: Offering, page: str = "") -> HttpResponse:
    more = f"&page={page}" if page.isdecimal() else ""
    return redirect(f"{page_address('invitations', offering)}{more}")


def _render(request: HttpRequest, offering: Offering, shown: _Shown | None = None) -> HttpResponse:
    shown, now = shown or _Shown(), timezone.now()
    raters = list_invited(offering)
    page = Paginator(raters, RATERS_PER_PAGE).get_page(request.GET.get("page"))
    stuck = set(Letter.objects.filter(needs_a_person(now), mailing__offering=offering).values_list("pk", flat=True))
    context = {
        **surroundings(offering),
        "page": page,
        "rows": [_row(one, stuck) for one in page],
        "states": _count_states(raters),
        "declined": Departure.objects.filter(link=link_of_invited(offering, now), outcome=Outcome.NO_CONSENT).count(),
        "refused": shown.refused,
        "problems": shown.problems,
        "added": shown.added,
        "typed_list": shown.refused.typed.get("list", "") if shown.refused else "",
        "has_mail_server": has_mail_server(),
        "letters": [_letter_form(kind, raters, shown.refused) for kind in Kind],
    }
    return render(request, "hits/invitations.html", context, status=STATUS if shown.refused else 200)


STATES = {"invited": "", "opened": "", "agreed": "", "finished": "chip-good", "revoked": "chip-warning"}


def _count_states(raters: Sequence[InvitedRater]) -> str:
    counts = {state: sum(one.state == state for one in raters) for state in STATES}
    return " · ".join(f"{count:,} {state}" for state, count in counts.items() if count)


def _row(one: InvitedRater, stuck: set[int]) -> dict[str, Any]:
    return {
        "rater": one,
        "chip": STATES[one.state],
        "link": personal_link(one.invitation),
        "is_stuck": one.letter is not None and one.letter.pk in stuck,
    }


def _letter_form(kind: Kind, raters: Sequence[InvitedRater], refused: Refused | None) -> dict[str, Any]:
    usual = USUAL_LETTERS[kind]
    typed = refused.typed if refused is not None and refused.form == kind else {}
    to = addressees(raters, kind)
    without_address = [one for one in raters if not one.invitation.email and one.invitation.revoked_at is None]
    return {
        "kind": kind,
        "is_reminder": kind == Kind.REMINDER,
        "count": len(to),
        "addresses": ", ".join(one.email for one in to),
        "without_address": len(without_address),
        "subject": typed.get("subject", usual.subject),
        "text": typed.get("text", usual.text),
        "press": uuid4(),
        "is_open": bool(typed),
    }
