"""What a bundle's texts say of those who rated: no money, no crowd and no agreement that there was not."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from hits.analysing import Origin, analyse_study
from hits.exporting.bundle_facts import Sources
from hits.exporting.datasheet import datasheet, heds_json
from hits.exporting.gathering_facts import gather_facts
from hits.exporting.methods import methods_latex, methods_markdown
from hits.exporting.participants import participants
from hits.exporting.research_checklist import research_checklist
from hits.models import Assignment, Offering, Payment, Study, Submission, offering_for
from hits.models.offering import split_marketplace_name
from hits.screening import screen
from tests.hits.crowd import now
from tests.hits.rated import rate

Write = Callable[[Sources], str]
WRITERS: tuple[Write, ...] = (
    *(methods_markdown, methods_latex, participants, research_checklist, datasheet),
    heds_json,
)
RECEIVED = r"[Ww]orkers received|[Pp]articipants received|[Rr]aters received|was paid \d|An assignment paid|in fees"
HIRED = r"recruited on|approved tasks|crowd workers|located in"
TO_FILL_IN = "[to be filled in by the researchers]"


@pytest.fixture
def paid_study(demo_study: Study) -> Study:
    """Rated, screened, with a ledger of 24 rewards and 7 bonuses."""
    rate(demo_study)
    submissions = list(Submission.objects.all())
    for kind, cents, some in (("reward", 40, submissions), ("bonus", 10, submissions[:7])):
        Payment.objects.bulk_create(
            Payment(submission=one, kind=kind, cents=cents, fee_cents=8, intended_at=now(), paid_at=now())
            for one in some
        )
    screen(offering_for(demo_study, "local"), now())
    return demo_study


def sources_on(study: Study, marketplace: str, origin: str = "people") -> Sources:
    """Say that the study's work was done there, by these."""
    crowd, environment = split_marketplace_name(marketplace)
    Offering.objects.update(crowd=crowd, environment=environment)
    Submission.objects.update(origin=origin)
    offering = offering_for(study, marketplace)
    results = analyse_study(offering)
    return Sources(gather_facts(offering, results), study.parsed_design, study.manifest_hash, results)


def unpaid(sources: Sources) -> Sources:
    pay = sources.design.pay.model_copy(update={"reward_cents": 0, "bonus_cents": 0})
    return replace(
        sources,
        design=sources.design.model_copy(update={"pay": pay}),
        facts=sources.facts.model_copy(
            update={"paid": (), "minutes": sources.facts.minutes.model_copy(update={"hourly_cents": 0})}
            if sources.facts.minutes
            else {"paid": ()}
        ),
    )


@pytest.mark.parametrize(("marketplace", "name"), [("production", "worker"), ("prolific.production", "participant")])
def test_a_crowd_that_pays_has_paid(paid_study: Study, marketplace: str, name: str) -> None:
    sources = sources_on(paid_study, marketplace)

    methods, people, checklist = (write(sources) for write in (methods_markdown, participants, research_checklist))

    assert f"{name.capitalize()}s were recruited on " in methods
    assert f"In total, {name}s received $10.30, and the marketplace $2.48 in fees." in methods
    assert "so that the reward alone amounted to $2.42 per hour" in methods
    assert "Pay did not depend on these exclusions." in methods
    assert "| paid: bonus | $0.70 in 7 payments, and $0.56 in fees |" in people
    assert f"{name}s received $10.30" in checklist
    assert "*Paid (monetary compensation).*" in datasheet(sources)
    assert name == "worker" or not re.search(r"\b[Ww]orkers?\b", methods)


def test_declared_raters_on_the_marketplace_here_received_nothing_from_it(paid_study: Study) -> None:
    sources = sources_on(paid_study, "local")

    methods = methods_markdown(sources)

    assert "Raters did the tasks on a marketplace that runs on the researchers' own machine." in methods
    assert f"How they were recruited: {TO_FILL_IN}." in methods
    assert "moved no money; by its count, $10.30 was due in all (24 rewards and 7 bonuses)." in methods
    assert f"Whether and how it was paid: {TO_FILL_IN}." in methods
    assert "the reward alone would amount to $2.42 per hour" in methods
    assert "| due: reward | $9.60 in 24 payments |" in participants(sources)
    _check_that_nobody_received_anything(sources, RECEIVED, HIRED)


def test_people_by_a_link_were_to_be_paid_elsewhere(paid_study: Study) -> None:
    sources = sources_on(paid_study, "link.live")

    methods = methods_markdown(sources)

    assert "Participants were recruited by an open link" in methods
    assert "It was to be paid outside of the platform: $10.30 was due in all" in methods
    assert "What was due did not depend on these exclusions." in methods
    assert f"Whether and how it was paid: {TO_FILL_IN}." in methods
    sheet = datasheet(sources).split("**3.2.2.2")[1].split("**3.2.2.3")[0]
    assert "No money went through the platform; participants.md has what was due." in sheet
    assert TO_FILL_IN in sheet
    _check_that_nobody_received_anything(sources, RECEIVED, r"recruited on|approved tasks|crowd workers|located in")


@pytest.mark.parametrize("marketplace", ["link.live", "local"])
def test_an_unpaid_study_says_so_and_nothing_else_of_money(paid_study: Study, marketplace: str) -> None:
    sources = unpaid(sources_on(paid_study, marketplace))

    assert re.search(r"The study did not pay (participants|raters)\.", methods_markdown(sources))
    assert "*Not paid.* The study paid nothing." in datasheet(sources)
    _check_that_nobody_received_anything(sources, RECEIVED, r"\$|per hour|hourly|was due|Pay did|adequate:")


@pytest.mark.parametrize(
    ("marketplace", "origin", "who"),
    [
        ("local", "simulation", "A simulated crowd of 14 made-up workers"),
        ("local", "rehearsal", "14 accounts handed in 24 assignments"),
        ("sandbox", "rehearsal", "In a rehearsal on Amazon Mechanical Turk's sandbox"),
        ("prolific.local", "rehearsal", "In a rehearsal on a copy of Prolific"),
        ("prolific.local", "simulation", "on a copy of Prolific that runs on the researchers' own machine: a program"),
        ("link.trial", "rehearsal", "In a rehearsal on the trial of an open link"),
    ],
)
def test_work_of_nobody_claims_neither_crowd_nor_pay(
    paid_study: Study, marketplace: str, origin: str, who: str
) -> None:
    sources = sources_on(paid_study, marketplace, origin)

    for one in (sources, unpaid(sources)):
        for write in WRITERS:
            assert who in write(one), write.__name__
            assert "Nobody was recruited or paid." in write(one)
        _check_that_nobody_received_anything(
            one, RECEIVED, HIRED, r"per hour|hourly|was due|Pay did|agreed to a consent"
        )
        kind = {"simulation": "made-up", "rehearsal": "rehearsing"}[origin]
        assert not re.search(rf"(?i)(?<!{kind} )\bworkers?\b", methods_markdown(one))


def test_a_mixture_says_neither_that_nobody_nor_that_everybody_was_a_rater(paid_study: Study) -> None:
    sources = sources_on(paid_study, "local")
    results = replace(sources.results, origin=Origin(people=12, simulation=12))
    mixed = replace(sources, facts=gather_facts(offering_for(paid_study, "local"), results), results=results)

    for write in WRITERS:
        text = write(mixed)
        assert "12 are by a simulated crowd and 12 are by people" in text, write.__name__
        assert "Nobody was recruited" not in text
        assert "no person took part" not in text
    assert "Agreements are not counted" in participants(mixed)
    assert "N/A" in datasheet(mixed).split("**3.2.1 ")[1].split("**3.2.2.1")[0]
    _check_that_nobody_received_anything(mixed, RECEIVED, HIRED)


def _check_that_nobody_received_anything(sources: Sources, *claims: str) -> None:
    for write in WRITERS:
        for claim in claims:
            found = re.search(claim, write(sources))
            assert not found, (write.__name__, found)


def test_agreements_that_are_missing_are_said_in_the_methods(paid_study: Study) -> None:
    wanted = paid_study.parsed_design.task.consent_version
    keys = list(Assignment.objects.order_by("pk").values_list("pk", flat=True))
    Assignment.objects.filter(pk__in=keys[:20]).update(consented_at=now(), consent_version=wanted)
    Assignment.objects.filter(pk__in=keys[20:23]).update(consented_at=now(), consent_version="0" * 64)

    sources = sources_on(paid_study, "production")

    for text in (methods_markdown(sources), participants(sources)):
        assert "3 assignments began with an agreement to another version" in text
        assert "For 1 assignment no agreement is recorded." in text
