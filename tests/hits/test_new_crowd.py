"""A crowd is one folder and a line of the registry: no room has to know it, also where nothing is as on MTurk."""

import io
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from evalplatform.errors import EvalPlatformError
from hits.batching import build_hits
from hits.crowds import CROWDS, Market, MarketBonus, all_marketplaces, check_is_allowed, open_crowd
from hits.crowds.contract import Crowd
from hits.designing import create_study
from hits.designing.design_problems import problems_of
from hits.errors import MarketRefused, MarketUnavailable
from hits.models import Event, Hit, Offering, Payment, Publication, Study, Submission, offering_for
from hits.paying import reject
from hits.paying.payments import ANSWER_LOST
from hits.publishing import block, resume_study
from hits.replacing import replace_lost_assignments
from hits.syncing import sync
from tests import snapshots
from tests.conftest import DEMO
from tests.hits.crowd import now
from tests.hits.toy_crowd import ToyCrowd, ToyMarket
from tests.hits.working import Worker

ANYBODY = {"countries": [], "min_approved": 0, "min_approval_percent": 0}


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> ToyCrowd:
    crowd = ToyCrowd()
    monkeypatch.setitem(CROWDS, crowd.name, crowd)
    return crowd


@pytest.fixture
def study(example_corpus: None, researcher: User, transactional_db: None) -> Study:
    study = create_study({**DEMO, "crowd": ANYBODY})
    study.owner = researcher
    study.save()
    snapshots.build(study)
    study.refresh_from_db()
    return study


@pytest.fixture
def offering(study: Study) -> Offering:
    run("publish_hits", "--crowd", "toy", "--hits", "2")
    return offering_for(study, "toy.panel")


class Participant(Worker):
    """Follows a link of the panel, and types the code there."""

    def __init__(self, hit: Hit, toy: ToyCrowd, name: str = "p1") -> None:
        super().__init__(hit, name, f"session-{name}")
        self.panel = toy.panel
        self.panel.begin(name, self.assignment_id)

    def parameters(self, **others: str) -> dict[str, str]:
        return {"PARTICIPANT_ID": self.worker_id, "SESSION": self.assignment_id, **others}

    def finish(self) -> dict[str, Any]:
        self.open()
        submission: dict[str, Any] = self.submit().json()
        self.panel.enter_code(self.assignment_id, submission["code"])
        return submission


def run(command: str, *words: str) -> str:
    out = io.StringIO()
    call_command(command, "demo", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def first_hit(offering: Offering) -> Hit:
    return offering.study.hits.get(number=0)


def test_toy_and_mturk_fulfil_the_contract(toy: ToyCrowd) -> None:
    crowds: list[Crowd] = [toy, CROWDS["mturk"]]
    market: type[Market] = ToyMarket

    assert [crowd.name for crowd in crowds] == ["toy", "mturk"]
    assert market is ToyMarket
    assert list(all_marketplaces()) == [
        "local",
        "sandbox",
        "production",
        "link.trial",
        "link.live",
        "prolific.local",
        "prolific.production",
        "toy.panel",
    ]


def test_a_study_is_published_worked_collected_paid_and_exported_there(
    toy: ToyCrowd, offering: Offering, tmp_path: Path
) -> None:
    participant = Participant(first_hit(offering), toy)

    submission = participant.finish()
    told = run("sync_hits", "--crowd", "toy")
    results = run("show_results", "--crowd", "toy")
    run("export_study", "--crowd", "toy", "--out", str(tmp_path / "bundle"))

    assert (submission["way"], submission["action"], submission["fields"]) == ("code", "", {})
    assert "1 submission collected" in told
    assert "1 reward and 1 bonus paid, $0.55 with fees" in told
    assert Submission.objects.get().problem == ""
    assert toy.panel.sessions["session-p1"].is_approved
    assert [(one.crowd_worker_id, one.cents) for one in toy.panel.bonuses] == [("p1", 10)]
    assert toy.panel.places == 2 * 4
    assert "generic" in results
    assert "Participants were recruited on a panel of toys." in (tmp_path / "bundle" / "methods.md").read_text()
    assert "The web page of EvalPlatform.\n" in (tmp_path / "bundle" / "datasheet.md").read_text()
    assert not Publication.objects.exclude(offering=offering).exists()
    assert Offering.objects.get(pk=offering.pk).crowd_notes == {"list": f"list of {offering.study.key}"}


def test_the_page_has_the_crowds_words(toy: ToyCrowd, offering: Offering) -> None:
    participant = Participant(first_hit(offering), toy).open()

    html = participant.visit().content.decode()
    preview = Participant(first_hit(offering), toy).open(TOY_PREVIEW="1").data
    shell = html.split("<script id=", 1)[0]

    assert "One moment: the task is loading" in shell
    assert "answer to the invitation, or close this page" in shell
    assert participant.data["crowd"]["worker"] == "participant"
    assert participant.data["facts"]["requester"] == "A research project, named in the invitation"
    assert (preview["mode"], preview["crowd"]["accept_first"]) == ("preview", "Follow your own link to begin.")
    for word in ("HIT", "marketplace"):
        assert word not in shell
        assert not any(word in text for text in participant.data["crowd"].values())


def test_refusals_have_the_crowds_words(toy: ToyCrowd, offering: Offering) -> None:
    participant = Participant(first_hit(offering), toy)
    participant.finish()

    stranger = participant.visit(SESSION="invented")
    saved = participant.save(0, {"0": "good"}).json()

    assert stranger.status_code == 403
    assert "Please follow the link in your invitation." in stranger.content.decode()
    assert "Please open this page from the panel" in stranger.content.decode()
    assert saved["heading"] == "You have finished this task"
    assert "HIT" not in saved["message"]


def test_a_visit_of_one_crowd_is_none_of_another(toy: ToyCrowd, offering: Offering) -> None:
    worker = Worker(first_hit(offering))

    assert worker.visit().status_code == 403  # on MTurk's local marketplace, nothing of it was published
    assert Participant(first_hit(offering), toy).visit(SESSION="a.b", PARTICIPANT_ID="p1").status_code == 403


def test_what_the_crowd_cant_do_is_refused_before_anything_is_published(example_corpus: None, toy: ToyCrowd) -> None:
    build_hits(create_study(DEMO))

    with pytest.raises(CommandError, match=r"can't be offered on toy\.panel: it can't choose workers by country"):
        run("publish_hits", "--crowd", "toy")
    assert toy.panel.hits == {}


def test_pounds_are_pounds_on_every_page_and_in_every_file(
    toy: ToyCrowd,
    example_corpus: None,
    researcher: User,
    researcher_client: Client,
    transactional_db: None,
    tmp_path: Path,
) -> None:
    pay = {"currency": "GBP"}
    study = create_study({**DEMO, "crowd": {**ANYBODY, "name": "toy"}, "pay": pay})
    Study.objects.filter(pk=study.pk).update(owner=researcher)
    build_hits(study)
    told = run("publish_hits", "--crowd", "toy", "--hits", "2")
    participant = Participant(study.hits.get(number=0), toy)
    participant.finish()
    told += run("sync_hits", "--crowd", "toy")
    run("export_study", "--crowd", "toy", "--out", str(tmp_path / "bundle"))
    facts = Participant(study.hits.get(number=1), toy, "p2").open().data["facts"]
    pages = [
        researcher_client.get(f"/studies/demo/{page}?market=toy.panel").content.decode()
        for page in ("", "monitor/", "ledger/", "monitor/?hourly=20")
    ]
    ledger = researcher_client.get("/studies/demo/ledger.csv?market=toy.panel").getvalue().decode()

    assert "£0.55 with fees" in told
    assert facts["reward"] == "£0.40"
    for text in [told, *pages, (tmp_path / "bundle" / "methods.md").read_text()]:
        assert "£" in text
        assert "$" not in text.replace("$ ", "")
    assert ",GBP," in ledger


TOYS = {**ANYBODY, "name": "toy"}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"pay": {"currency": "GBP"}}, "pay.currency: mturk: it does not pay in GBP: set pay.currency to USD"),
        ({"crowd": TOYS, "pay": {"currency": "EUR"}}, "set pay.currency to USD or GBP"),
        ({"crowd": TOYS, "pay": {"reward": "0.04"}}, "pay.reward: toy: it takes no reward below $0.05"),
        ({"crowd": {**TOYS, "options": {"agse": 1}}}, "crowd.options.agse: is no setting of toy; known are ages"),
        ({"crowd": {"options": {"ages": 1}}}, "crowd.options.ages: is no setting of mturk; it has none"),
        ({"crowd": {"name": "nobody"}}, "crowd.name: 'nobody' is no crowd; use one of: mturk, link, prolific, toy"),
        ({"pay": {"currency": "JPY"}}, "pay.currency: 'JPY' is no currency that we know"),
    ],
)
def test_a_draft_hears_at_once_what_the_crowd_it_is_meant_for_cant_do(
    example_corpus: None, settings: dict[str, Any], problem: str
) -> None:
    draft = {**DEMO, **{part: {**DEMO.get(part, {}), **values} for part, values in settings.items()}}

    assert problem in "\n".join(map(str, problems_of(draft)))


def test_what_the_crowd_cant_do_is_refused_later_too(
    toy: ToyCrowd, offering: Offering, researcher_client: Client
) -> None:
    participant = Participant(first_hit(offering), toy)
    participant.finish()
    market = open_crowd(offering)
    sync(offering, market, now)
    submission = Submission.objects.get()
    Submission.objects.update(status="Submitted")

    refused: list[Callable[[], object]] = [
        lambda: reject(submission, "No.", market, None, now()),
        lambda: resume_study(offering, market, now),
        lambda: replace_lost_assignments(offering, market, now),
        lambda: block(offering, "p1", "hard block", "No.", None, now()),
    ]
    page = researcher_client.get(f"/studies/demo/assignments/{participant.assignment.pk}/").content.decode()

    for act in refused:
        with pytest.raises(EvalPlatformError, match=r"toy\.panel"):
            act()
    assert "Reject" not in page


def test_who_is_kept_out_is_refused_by_our_page_alone(toy: ToyCrowd, offering: Offering) -> None:
    block(offering, "p1", "soft block", "Enough.", None, now())

    sync(offering, open_crowd(offering), now)

    visit = Participant(first_hit(offering), toy).visit()
    assert visit.status_code == 403
    assert "Please close this page; nothing counts against you." in visit.content.decode()


def test_a_bonus_whose_answer_was_lost_is_never_asked_for_again(toy: ToyCrowd, offering: Offering) -> None:
    Participant(first_hit(offering), toy).finish()
    toy.panel.loses_answers = True
    bonuses = Payment.objects.filter(kind="bonus")

    for _ in range(3):
        sync(offering, open_crowd(offering), now)
    unknown = bonuses.get()
    toy.panel.loses_answers = False
    sync(offering, open_crowd(offering), now)

    assert (unknown.paid_at, unknown.refusal) == (None, ANSWER_LOST)
    assert len(toy.panel.bonuses) == 1
    assert bonuses.get().paid_by == "found there"


LIST_ERRORS = [MarketUnavailable("The list is away."), MarketRefused("toy", "There is no list today.")]


@pytest.mark.parametrize("error", LIST_ERRORS, ids=["unavailable", "refused"])
def test_a_list_that_fails_frees_no_bonus_whose_answer_was_lost(
    toy: ToyCrowd, offering: Offering, error: MarketRefused | MarketUnavailable
) -> None:
    Participant(first_hit(offering), toy).finish()
    toy.panel.loses_answers = True
    bonuses = Payment.objects.filter(kind="bonus")
    sync(offering, open_crowd(offering), now)
    claimed_at = bonuses.get().sending_at

    toy.panel.list_error = error
    sync(offering, open_crowd(offering), now)
    after_failure = bonuses.get().sending_at
    toy.panel.list_error = None
    sync(offering, open_crowd(offering), now)  # the list does not show the bonus yet

    assert claimed_at is not None
    assert after_failure == claimed_at
    assert len(toy.panel.bonuses) == 1


@pytest.mark.parametrize("error", LIST_ERRORS, ids=["unavailable", "refused"])
def test_a_bonus_that_was_never_asked_for_is_paid_when_the_list_is_back(
    toy: ToyCrowd, offering: Offering, error: MarketRefused | MarketUnavailable
) -> None:
    Participant(first_hit(offering), toy).finish()
    toy.panel.list_error = error
    sync(offering, open_crowd(offering), now)
    bonus = Payment.objects.get(kind="bonus")
    toy.panel.list_error = None
    sync(offering, open_crowd(offering), now)

    assert (bonus.sending_at, bonus.refusal) == (None, str(error))
    assert len(toy.panel.bonuses) == 1
    assert Payment.objects.get(kind="bonus").paid_by == "our call"


def test_a_bonus_that_was_refused_is_asked_for_again(toy: ToyCrowd, offering: Offering) -> None:
    Participant(first_hit(offering), toy).finish()
    toy.panel.refuses_bonuses = True
    sync(offering, open_crowd(offering), now)
    refused = Payment.objects.get(kind="bonus")
    toy.panel.refuses_bonuses = False
    sync(offering, open_crowd(offering), now)

    assert (refused.paid_at, refused.sending_at) == (None, None)
    assert len(toy.panel.bonuses) == 1


def later() -> datetime:
    return now() + timedelta(hours=2)


def test_our_own_bonus_is_never_taken_for_one_given_by_hand(toy: ToyCrowd, offering: Offering) -> None:
    Participant(first_hit(offering), toy).finish()
    sync(offering, open_crowd(offering), now)

    sync(offering, open_crowd(offering), later)  # looks at the panel's list, which names no reasons

    assert sorted(Payment.objects.values_list("kind", "cents", "paid_by")) == [
        ("bonus", 10, "our call"),
        ("reward", 40, "our call"),
    ]


def test_a_top_up_as_high_as_the_bonus_is_sent(toy: ToyCrowd, offering: Offering) -> None:
    Participant(first_hit(offering), toy).finish()
    sync(offering, open_crowd(offering), now)
    Payment.objects.create(
        submission=Submission.objects.get(),
        kind=Payment.Kind.TOP_UP,
        cents=10,
        fee_cents=1,
        intended_at=now(),
        reason="More.",
    )

    for _ in range(2):
        sync(offering, open_crowd(offering), later)

    assert [one.cents for one in toy.panel.bonuses] == [10, 10]
    assert Payment.objects.get(kind=Payment.Kind.TOP_UP).paid_by == "our call"


def test_bonuses_given_by_hand_are_found_there_each_once(toy: ToyCrowd, offering: Offering) -> None:
    Participant(first_hit(offering), toy).finish()
    sync(offering, open_crowd(offering), now)
    for cents in (10, 10, 25):
        toy.panel.bonuses.append(MarketBonus("p1", "session-p1", cents, "", now()))

    for _ in range(2):
        sync(offering, open_crowd(offering), later)

    found = Payment.objects.filter(paid_by="found there").values_list("kind", "cents")
    assert sorted(found) == [("extra", 10), ("extra", 10), ("extra", 25)]
    assert len(toy.panel.bonuses) == 4


def test_pages_and_commands_name_the_place(offering: Offering, researcher_client: Client) -> None:
    page = researcher_client.get("/studies/demo/?market=toy.panel").content.decode()
    monitor = researcher_client.get("/studies/demo/monitor/?market=toy.panel")

    assert "Toys work here, and no money moves." in page
    assert "Publish to the panel" in page
    assert monitor.status_code == 200
    assert Event.objects.filter(text="published 2 HITs on the toy.panel market").exists()
    with pytest.raises(EvalPlatformError, match="Choose a marketplace"):
        check_is_allowed("toy.sandbox")
    with pytest.raises(CommandError, match="--crowd toy has no sandbox; there is: panel"):
        run("sync_hits", "--crowd", "toy", "--environment", "sandbox")
