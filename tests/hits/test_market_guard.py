"""One guard: what this server is not set to, or was published by another server, is not changed from here."""

from io import StringIO

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.core.management import CommandError, call_command
from django.test import Client

from evalplatform.errors import EvalPlatformError
from hits.access import pseudonym
from hits.crowds import check_may_change, enter_market, open_crowd
from hits.models import (
    Assignment,
    Offering,
    Payment,
    Publication,
    PublishingRun,
    Standing,
    Study,
    Submission,
    offering_for,
)
from hits.publishing import carry_out_run
from hits.tasks import (
    put_hits_up_again,
    replace_assignments_of_offering,
    resume_hits_of_offering,
    stop_hits_of_offering,
    sync_hits_of_offering,
    sync_published_studies,
)
from tests.hits.crowd import now

THERE = "https://eval.example.org/work"
COMMANDS = [
    ("publish_hits",),
    ("sync_hits",),
    ("stop_study",),
    ("stop_study", "--resume"),
    ("replace_assignments",),
    ("replace_assignments", "--dry-run"),
    ("put_up_again",),
]
TASKS = [
    lambda key: sync_hits_of_offering(key),
    lambda key: replace_assignments_of_offering(key, None, None),
    lambda key: put_hits_up_again(key, False, None),
    lambda key: stop_hits_of_offering(key),
    lambda key: resume_hits_of_offering(key),
]
FORMS = [
    "publish/",
    "publish/again/",
    "stop/",
    "resume/",
    "sync/",
    "screen/",
    "screen/undo/",
    "replace/",
    "put-up/",
    "top-up/",
    "assignments/approve/",
    "workers/{worker}/block/",
    "workers/{worker}/unblock/",
    "workers/{worker}/id/",
    "results/compute/",
    "ledger.csv",
]


@pytest.fixture
def study(bare_study: Study) -> Study:
    """On both of Amazon's marketplaces, with work that waits to be paid, and a HIT that is still to be published."""
    for environment in ("sandbox", "production"):
        offering = Offering.objects.create(
            study=bare_study,
            environment=environment,
            crowd_notes={"stop_qualification_id": "QUALIFICATION"},
            page_url=THERE,
        )
        for number in range(5):
            hit = bare_study.hits.get(number=number)
            assignment = Assignment.objects.create(
                hit=hit,
                offering=offering,
                crowd_assignment_id=f"ASSIGNMENT{number}",
                crowd_worker_id="WORKER",
                rotation=0,
                opened_at=now(),
                held_at=now(),
            )
            Submission.objects.create(
                assignment=assignment,
                crowd_hit_id=f"HIT{number}",
                status="Submitted",
                origin="people",
                accepted_at=now(),
                submitted_at=now(),
                answer_xml="",
                collected_at=now(),
            )
            Publication.objects.create(
                hit=hit, offering=offering, crowd_hit_id=f"HIT{number}", intended_at=now(), published_at=now()
            )
    return bare_study


def untouched(study: Study) -> bool:
    return not Payment.objects.exists() and not Standing.objects.exists() and not PublishingRun.objects.exists()


@pytest.mark.parametrize("environment", ["sandbox", "production"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_changes_what_the_server_is_not_set_to(
    study: Study, environment: str, command: tuple[str, ...]
) -> None:
    with pytest.raises(CommandError, match=f"is set to the local .* changes nothing on {environment}.*MTURK_ENV"):
        call_command(command[0], study.name, *command[1:], environment=environment, stdout=StringIO())

    assert untouched(study)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_spends_from_a_copy_of_the_database(
    study: Study, settings: LazySettings, command: tuple[str, ...]
) -> None:
    """On a laptop, with production's settings and keys even, all but the address."""
    settings.MTURK_ENVIRONMENT, settings.PUBLIC_URL = "production", "https://laptop.example.org"

    with pytest.raises(
        CommandError, match=r"server at https://eval\.example\.org, .* `manage\.py move_study demo --env"
    ):
        call_command(command[0], study.name, *command[1:], environment="production", stdout=StringIO())

    assert untouched(study)


@pytest.mark.parametrize("is_copy", [False, True])
@pytest.mark.parametrize("task", TASKS)
def test_no_task_does_either(study: Study, settings: LazySettings, task: object, is_copy: bool) -> None:
    if is_copy:
        settings.MTURK_ENVIRONMENT, settings.PUBLIC_URL = "production", "https://laptop.example.org"

    assert callable(task)
    with pytest.raises(EvalPlatformError, match="changes nothing"):
        task(offering_for(study, "production").pk)

    assert untouched(study)


def test_a_run_that_was_asked_for_elsewhere_ends_with_the_reason(study: Study) -> None:
    run = PublishingRun.objects.create(offering=offering_for(study, "production"), requested_at=now())

    carry_out_run(run, enter_market, now)

    run.refresh_from_db()
    assert "changes nothing on production" in run.outcome
    assert run.finished_at is not None


def test_the_scheduled_sync_leaves_them_alone(study: Study) -> None:
    sync_published_studies()  # would ask the broker, or raise

    assert untouched(study)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_that_names_a_marketplace_which_is_not_offered_is_refused_and_nothing_is_done_elsewhere(
    study: Study, researcher_client: Client, form: str
) -> None:
    PublishingRun.objects.create(offering=offering_for(study, "production"), requested_at=now(), finished_at=now())
    path = f"/studies/demo/{form.format(worker=pseudonym(study, 'WORKER'))}"
    events = study.events.count()

    answer = researcher_client.post(path, {"market": "production", "reason": "because", "typed_name": "demo"})

    assert answer.status_code == 302
    told = [str(one) for one in get_messages(answer.wsgi_request)]
    if form != "publish/again/":  # where there is nothing to start again, nothing is said
        assert told == [
            "This server is set to the local marketplace and changes nothing on production. To work there, set "
            "MTURK_ENVIRONMENT=production in its environment."
        ]
    assert study.events.count() == events
    assert (Payment.objects.count(), Standing.objects.count(), PublishingRun.objects.count()) == (0, 0, 1)


@pytest.mark.parametrize("form", ["approve/", "reject/"])
def test_a_single_assignment_elsewhere_is_not_decided_on(study: Study, researcher_client: Client, form: str) -> None:
    key = Assignment.objects.filter(offering__environment="production").earliest("pk").pk

    answer = researcher_client.post(f"/studies/demo/assignments/{key}/{form}", {"is_meant": "yes", "reason": "no"})

    assert answer.status_code == 404
    assert untouched(study)


@pytest.mark.parametrize("form", ["approve/", "reject/"])
def test_nor_is_one_of_a_copied_database(
    study: Study, researcher_client: Client, settings: LazySettings, form: str
) -> None:
    settings.MTURK_ENVIRONMENT, settings.PUBLIC_URL = "production", "https://laptop.example.org"
    key = Assignment.objects.filter(offering__environment="production").earliest("pk").pk

    answer = researcher_client.post(f"/studies/demo/assignments/{key}/{form}", {"is_meant": "yes", "reason": "no"})

    assert "a copy of its database changes nothing" in str(next(iter(get_messages(answer.wsgi_request))))
    assert untouched(study)


def test_the_server_that_published_it_may_and_a_move_is_said_on_purpose(
    study: Study, settings: LazySettings, researcher: User
) -> None:
    settings.MTURK_ENVIRONMENT, settings.PUBLIC_URL = "production", "https://eval.example.org"
    check_may_change(offering_for(study, "production"))
    settings.PUBLIC_URL = "https://new.example.org"
    with pytest.raises(EvalPlatformError, match="a copy of its database"):
        check_may_change(offering_for(study, "production"))

    out = StringIO()
    call_command("move_study", "demo", environment="production", stdout=out)

    assert out.getvalue() == "demo on production belongs to https://new.example.org now.\n"
    check_may_change(offering_for(study, "production"))
    with pytest.raises(EvalPlatformError, match="a copy of its database"):
        check_may_change(offering_for(study, "sandbox"))
    assert study.events.get().text == f"moved the study on production from {THERE} to https://new.example.org/work"
    with pytest.raises(CommandError, match="nothing to move"):
        call_command("move_study", "demo", environment="production", stdout=out)


def test_the_local_marketplace_is_open_to_every_copy(study: Study, settings: LazySettings) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:9999"

    open_crowd(offering_for(study, "local"))
