"""Share links in the hands of strangers: what they open, what they never open, and how guessing is slowed down."""

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
import structlog
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evalplatform.errors import EvalPlatformError
from hits.access import make_share_link, open_share_link, pseudonym, revoke_share_link
from hits.analysing import source_of
from hits.analysing.rated_dialogs import rated_dialogs
from hits.analysing.study_analysis import frame_to_analyse, scales_of
from hits.models import (
    Assignment,
    Event,
    Membership,
    RatedDialogs,
    ScreeningRun,
    ShareLink,
    Study,
    StudyResults,
    offering_for,
)
from hits.screening import screen
from hits.tasks import compute_results_of_offering
from tests.hits.rated import rate
from tests.pages import html_of

_computed: dict[str, Any] = {}
CLOSED = "This link opens nothing"


@pytest.fixture
def shared(demo_study: Study, researcher: User) -> Study:
    """A study that is still going on, with results."""
    Study.objects.update(owner=researcher)
    demo_study.refresh_from_db()
    rate(demo_study, hits=3)
    screen(offering_for(demo_study, "local"), timezone.now())
    offering = offering_for(demo_study, "local")
    if not _computed:  # once for all tests here: the same ratings give the same results
        compute_results_of_offering(offering.pk)
        _computed.update(StudyResults.objects.values("results", "figures", "computed_at").get())
    StudyResults.objects.update_or_create(
        offering=offering, defaults={**_computed, "source": source_of(offering), "requested_at": None}
    )
    facts = rated_dialogs(frame_to_analyse(offering), scales_of(demo_study))  # it names rows' ids
    RatedDialogs.objects.update_or_create(offering=offering, defaults={"facts": facts})
    return demo_study


def link_to(study: Study, days: int = 7, shows_dialogs: bool = False) -> str:
    token = make_share_link(offering_for(study, "local"), "reviewers", days, shows_dialogs, study.owner, timezone.now())
    return f"/shared/{token}/"


def words_of(response: Any) -> str:
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html_of(response)).split()))


def test_who_has_the_link_reads_the_results_and_nothing_that_needs_an_account(shared: Study) -> None:
    response = Client().get(link_to(shared))
    html = html_of(response)

    assert response.status_code == 200
    assert "How replies were rated" in html
    assert "Interim:" in html
    assert re.findall(r"<form|hx-get|hx-post", html) == []
    addresses = re.findall(r'(?:href|src|action)="([^"]*)"', html)
    assert {one for one in addresses if not one.startswith(("#", "?", "/static/"))} == set()
    workers = set(Assignment.objects.values_list("crowd_worker_id", flat=True))
    assert not [one for one in workers if one in html or pseudonym(shared, one) in html]
    assert not re.search(r"\bW-[0-9A-Z]{8}\b", html)


def test_no_answer_may_be_kept_indexed_or_named_to_another_site(shared: Study) -> None:
    for address in (link_to(shared), "/shared/unknown/"):
        response = Client().get(address)

        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert "noindex" in response.headers["X-Robots-Tag"]
        assert {"no-store", "private"} <= set(re.split(r",\s*", response.headers["Cache-Control"]))
        assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
        assert not response.cookies
        assert 'content="noindex' in html_of(response)


def test_unknown_expired_and_revoked_links_can_t_be_told_apart(shared: Study) -> None:
    expired, revoked = link_to(shared), link_to(shared)
    first, second = ShareLink.objects.order_by("pk")
    past = timezone.now() - timedelta(days=8)
    ShareLink.objects.filter(pk=first.pk).update(made_at=past, expires_at=past + timedelta(days=7))
    revoke_share_link(shared, second.pk, shared.owner, timezone.now())

    answers = [Client().get(address) for address in (expired, revoked, "/shared/" + "A" * 43 + "/", "/shared/x/")]

    assert {answer.status_code for answer in answers} == {404}
    assert len({html_of(answer) for answer in answers}) == 1
    assert CLOSED in html_of(answers[0])
    assert len({tuple(sorted(answer.headers.items())) for answer in answers}) == 1


def test_the_token_is_stored_as_a_hash_and_is_in_no_event(shared: Study) -> None:
    token = link_to(shared).split("/")[2]
    Client().get(f"/shared/{token}/")

    assert len(token) >= 43
    assert token not in str(list(ShareLink.objects.values()))
    assert not Event.objects.filter(text__contains=token).exists()


def test_the_log_of_requests_does_not_name_the_token(shared: Study) -> None:
    address = link_to(shared)

    with structlog.testing.capture_logs() as lines:
        Client().get(address)

    assert [line["path"] for line in lines if line["event"] == "request"] == ["/shared/..."]
    assert address.split("/")[2] not in str(lines)


def test_dialogs_are_shared_only_by_a_link_that_says_so_and_name_nobody(shared: Study) -> None:
    without, with_them = link_to(shared), link_to(shared, shows_dialogs=True)

    assert Client().get(f"{without}dialogs/").status_code == 404
    assert "dialogs/" not in html_of(Client().get(without))
    assert f"{with_them}dialogs/?criterion=overall" in unescape(html_of(Client().get(with_them)))
    for query in ("", "?left_out=yes", "?model=parrot&value=bad"):
        html = html_of(Client().get(f"{with_them}dialogs/{query}"))
        assert "× Good" in html or "× Bad" in html
        assert not re.search(r"\bW-[0-9A-Z]{8}\b", html)
        addresses = re.findall(r'(?:href|src|action)="([^"]*)"', html)
        assert not [one for one in addresses if not one.startswith(("#", "?", "/static/", with_them))]


def test_a_link_opens_one_study_s_results_and_no_other_address(shared: Study) -> None:
    client = Client()
    client.get(link_to(shared))

    for address in ("/studies/demo/results/", "/studies/demo/events/", "/studies/demo/results/dialogs/", "/"):
        assert client.get(address).status_code == 302
    for method in ("post", "put", "delete", "patch"):
        assert getattr(client, method)(link_to(shared)).status_code == 405


def test_a_look_through_a_link_is_a_look_and_asks_for_no_computation(shared: Study) -> None:
    rate(shared, hits=1, workers=1, seed=9)  # so that the results are stale
    address = link_to(shared)

    page = words_of(Client().get(address))
    Client().get(address)

    assert "more has come in, or been screened, since" in page
    assert not StudyResults.objects.get().is_under_way
    looks = Event.objects.filter(text__startswith="looked at interim results")
    assert [one.actor for one in looks] == [None]
    assert Event.objects.filter(text="opened a share link for the first time: reviewers").count() == 1
    assert [one.who for one in looks] == ["somebody with a share link"]
    assert Event.objects.get(text__startswith="opened a share link").who == "somebody with a share link"
    assert Event.objects.get(text__startswith="shared the results").who == str(shared.owner)


def test_who_has_the_link_is_warned_when_the_screening_was_undone(shared: Study) -> None:
    address = link_to(shared)
    assert "own screening" not in words_of(Client().get(address))

    ScreeningRun.objects.update(undone_at=timezone.now())

    page = words_of(Client().get(address))
    assert "The study's own screening was undone: everything counts." in page
    assert "The numbers below were computed earlier and may rest on another screening." in page


def test_guessing_is_slowed_down_by_address_and_the_right_link_is_not_counted(shared: Study) -> None:
    address = link_to(shared)
    for _ in range(25):
        assert Client().get(address).status_code == 200

    answers = [Client().get(f"/shared/guess{number}/") for number in range(22)]

    assert [answer.status_code for answer in answers[:20]] == [404] * 20
    assert answers[21].status_code == 429
    assert int(answers[21].headers["Retry-After"]) > 0
    assert Client(REMOTE_ADDR="198.51.100.7").get(address).status_code == 200


def test_only_the_owner_makes_and_revokes_links(shared: Study, researcher_client: Client) -> None:
    member = User.objects.create_user("mia", password="another-secret")
    Membership.objects.create(study=shared, user=member, invited_at=timezone.now())
    client = Client()
    client.force_login(member)
    link_to(shared)
    key = ShareLink.objects.get().pk

    made = client.post("/studies/demo/results/share/", {"market": "local", "label": "me", "days": "7"})
    client.post(f"/studies/demo/results/share/{key}/revoke/", {"market": "local"})

    assert made.status_code == 422
    assert "Only the study's owner" in unescape(html_of(made))
    assert ShareLink.objects.filter(revoked_at=None).count() == 1
    stranger = Client()
    stranger.force_login(User.objects.create_user("sam", password="another-secret"))
    assert stranger.get("/studies/demo/results/share/").status_code == 404
    assert stranger.post(f"/studies/demo/results/share/{key}/revoke/").status_code == 404


def test_the_owner_makes_a_link_sees_it_once_and_revokes_it(shared: Study, researcher_client: Client) -> None:
    page = "/studies/demo/results/share/"
    made = researcher_client.post(page, {"market": "local", "label": "reviewers", "days": "30", "shows_dialogs": "yes"})
    [address] = re.findall(r"http://testserver(/shared/[\w-]+/)", html_of(made))
    assert Client().get(address).status_code == 200
    assert address not in html_of(researcher_client.get(page))
    key = ShareLink.objects.get().pk

    researcher_client.post(f"{page}{key}/revoke/", {"market": "local"})

    assert Client().get(address).status_code == 404
    assert "reviewers" not in words_of(researcher_client.get(page))
    texts = list(Event.objects.order_by("pk").values_list("text", flat=True))
    assert "shared the results and dialogs by a link for 30 days: reviewers" in texts
    assert "revoked a share link: reviewers" in texts


@pytest.mark.parametrize("days", ["0", "366", "-1", "1.5", "", "9" * 30, "ten"])
def test_a_link_that_never_ends_is_refused(shared: Study, researcher_client: Client, days: str) -> None:
    answer = researcher_client.post(
        "/studies/demo/results/share/", {"market": "local", "label": "reviewers", "days": days}
    )

    assert answer.status_code == 422
    assert not ShareLink.objects.exists()


def test_odd_tokens_open_nothing(db: None) -> None:
    now = timezone.now()

    assert [open_share_link(token, now) for token in ("", " ", "%", "é" * 50, "x" * 5000)] == [None] * 5
    with pytest.raises(EvalPlatformError, match="Only the study's owner"):
        make_share_link(offering_for(Study.objects.create(name="x", design={}), "local"), "x", 1, False, None, now)
