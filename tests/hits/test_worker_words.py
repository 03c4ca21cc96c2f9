"""What workers read: true of any data, kind, and in one place."""

import re
from typing import Any

import pytest
from django.test import Client

from hits.crowds import CROWDS
from hits.designing import create_study
from hits.models import Hit, Study, design_texts
from hits.protocols import areas_texts
from hits.protocols.areas import Areas
from hits.serving import Paid, Refusal, WorkRefused
from hits.serving.work_refusals import WORDS, incomplete_words, limit_words
from tests import snapshots
from tests.conftest import DEMO, ROOT
from tests.hits.working import Worker, publish

PREVIEW = {"assignment_id": "ASSIGNMENT_ID_NOT_AVAILABLE", "worker_id": ""}
MTURKS = CROWDS["mturk"].words
ENDS_THE_WORK = [refusal for refusal, words in WORDS.items() if words.heading]


def previewed(**settings: Any) -> dict[str, Any]:
    """The facts that a worker reads before accepting."""
    study = create_study({**DEMO, **settings})
    snapshots.build(study)
    publish(study)
    facts: dict[str, Any] = Worker(study.hits.all()[0], **PREVIEW).open(turkSubmitTo="").data["facts"]
    return facts


def test_the_default_texts_say_nothing_that_another_dataset_makes_untrue() -> None:
    texts = [
        value
        for name, value in {**vars(design_texts), **vars(areas_texts)}.items()
        if name.isupper() and isinstance(value, str)
    ]
    said = " ".join(texts).lower()

    for untrue in ("film", "subtitle", "each was written by a chatbot", "english", "empathy"):
        assert untrue not in said
    assert "one may be by a person" in said


@pytest.mark.django_db
def test_who_asks_the_hourly_pay_and_the_approval_are_told(example_corpus: None) -> None:
    facts = previewed(pay={"reward": 2, "expected_minutes": 12}, task={"requester": "Dialogue Group"})

    assert (facts["requester"], facts["reward"], facts["hourly"]) == ("Dialogue Group", "$2.00", "$10.00")
    assert facts["approval"].startswith("at once")
    assert "never leads to a rejection" in facts["approval"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pay": {"approval": "after a delay", "approval_delay_hours": 1}}, "1 hour after you submit"),
        ({"pay": {"approval": "by hand"}}, "by a person, at the latest 3 days after you submit"),
        ({"pay": {"approval": "by hand"}, "crowd": {"auto_approval_days": 0}}, "at once, by the marketplace"),
    ],
)
def test_the_approval_is_told_as_the_design_has_it(example_corpus: None, settings: dict[str, Any], words: str) -> None:
    facts = previewed(**settings)

    assert facts["approval"].startswith(words)
    assert "the marketplace shows the requester's name" in facts["requester"]  # true without a setting


@pytest.mark.django_db
def test_one_point_and_one_hit_are_told_as_one(example_corpus: None) -> None:
    one = {"checkpoints": {**DEMO["checkpoints"], "per_hit": 1}, "pay": {"bonus_points": 1}, "screening": []}
    facts = previewed(**one)

    assert facts["bonus_rule"].startswith("One of the conversations carries a bonus point")
    assert "all 1" not in facts["bonus_rule"]
    assert "1 HIT of this study" in limit_words(1, MTURKS)
    assert "1 reply of conversation 1, 2 replies of conversation 3" in incomplete_words(
        [(0, 1), (2, 2)], Areas.still_missing
    )


def test_every_refusal_says_what_happened_whether_it_is_paid_and_what_to_do() -> None:
    assert set(WORDS) == set(Refusal)
    for refusal in ENDS_THE_WORK:
        words = WORDS[refusal].of_crowd(MTURKS)
        assert re.search(r"\bpaid\b", words.message), refusal
        assert re.search(r"[Pp]lease |[Oo]pen (it|this HIT) again|you can go on", words.message), refusal
        assert words.can_open_again or "return" in words.message or "open" in words.message, refusal


def test_no_refusal_has_a_second_wording_in_the_page() -> None:
    scripts = "".join(path.read_text() for path in (ROOT / "frontend" / "src" / "worker").glob("*.ts"))

    for refusal in ENDS_THE_WORK:
        assert refusal not in scripts
        assert WORDS[refusal].of_crowd(MTURKS).heading not in scripts


@pytest.mark.django_db
def test_a_refusal_comes_to_the_page_with_all_its_words(demo_study: Study) -> None:
    publish(demo_study)
    worker = Worker(demo_study.hits.get(number=0)).open()
    worker.submit()

    said = worker.save(0, {"0": "good"}).json()

    words = WORDS[Refusal.ALREADY_SUBMITTED].of_crowd(MTURKS)
    assert said == {
        "code": "already-submitted",
        "heading": words.heading,
        "message": words.message,
        "can_open_again": True,
    }


@pytest.mark.django_db
def test_the_page_is_in_the_studys_language(example_corpus: None) -> None:
    study = create_study({**DEMO, "task": {"language": "pt-BR"}})
    snapshots.build(study)
    publish(study)

    assert '<html lang="pt-BR">' in Worker(study.hits.all()[0]).visit().content.decode()


@pytest.mark.django_db
def test_researchers_meet_no_hit_0_either(demo_study: Study, researcher_client: Client) -> None:
    hit = Hit.objects.get(study=demo_study, number=0)
    pages = [
        researcher_client.get(f"/studies/{demo_study.name}/").content.decode(),
        researcher_client.get(f"/studies/{demo_study.name}/hits/0/").content.decode(),
    ]

    assert str(hit) == "demo HIT 1"
    for page in pages:
        assert "HIT 1" in page
        assert "HIT 0" not in page


def test_the_browsers_that_are_served_are_the_same_everywhere() -> None:
    config = (ROOT / "frontend" / "vite.config.ts").read_text()
    built_for = dict(re.findall(r'"(chrome|edge|firefox|safari)([\d.]+)"', config))
    words = f"Chrome or Edge {built_for['chrome']}, Firefox {built_for['firefox']}, Safari {built_for['safari']}"

    assert built_for["edge"] == built_for["chrome"]
    for place in ("docs/working.md", "frontend/templates/work/hit.html"):
        assert words in " ".join((ROOT / place).read_text().split()), place


@pytest.mark.parametrize("refusal", Refusal)
def test_no_refusal_speaks_of_pay_where_nobody_pays(refusal: Refusal) -> None:
    """And none says that work is paid where we can't know that, since somebody else pays."""
    links = CROWDS["link"].words
    unpaid, elsewhere = (WORDS[refusal].of_crowd(links, paid).message for paid in (Paid.NOT, Paid.ELSEWHERE))

    assert not re.search(r"\b(paid|pays?)\b", unpaid)
    assert not re.search(r"\b(is|are|was) paid\b", elsewhere)
    assert not re.search(r"[\[\]|{}]", unpaid + elsewhere + WORDS[refusal].of_crowd(MTURKS).message)


def test_the_number_of_hits_that_one_may_do_is_told_without_pay_where_nobody_pays() -> None:
    refused = WorkRefused(Refusal.LIMIT_REACHED, limit_words(2, CROWDS["link"].words))

    told = {paid: refused.words(CROWDS["link"].words, paid).message for paid in Paid}

    assert "What you have submitted is paid; this one could not be." in told[Paid.BY_CROWD]
    assert "What you have submitted counts; this one could not." in told[Paid.NOT]
    assert "counts towards your pay" in told[Paid.ELSEWHERE]
