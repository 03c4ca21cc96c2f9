"""Drive Dallinger: its MTurkService, which its recruiter and its command line call."""

import os
from typing import Any

from dallinger.mturk import (  # type: ignore[import-not-found]
    DuplicateQualificationNameError,
    MTurkQualificationRequirements,
    MTurkQuestions,
    MTurkService,
    MTurkServiceException,
    NonExistentSubscription,
)

from benchmarks.third_party import scenario

EXPERIMENT = "rate-replies"


class Service(MTurkService):  # type: ignore[misc]
    """Dallinger's service without two things that don't exist here: Amazon's address, and notifications by Amazon
    SNS."""

    host = scenario.ENDPOINT

    @property
    def sns(self) -> Any:
        return NoNotifications()


class NoNotifications:
    def cancel_subscription(self, experiment_id: str) -> None:
        raise NonExistentSubscription(experiment_id)


def publish() -> list[str]:
    service = _service()
    service.check_credentials()
    took_part = service.create_qualification_type(EXPERIMENT, "Took part before")
    try:
        service.create_qualification_type(EXPERIMENT, "The same name again")
        raise AssertionError("a second qualification type of this name was made")
    except DuplicateQualificationNameError:
        pass
    return [_create_hit(service, took_part["id"])["id"] for _ in range(scenario.HITS)]


def _create_hit(service: Service, took_part_id: str) -> Any:
    required = MTurkQualificationRequirements
    return service.create_hit(
        experiment_id=EXPERIMENT,
        title=scenario.TITLE,
        description=scenario.DESCRIPTION,
        keywords=scenario.KEYWORDS,
        reward=scenario.REWARD_DOLLARS,
        duration_hours=1,
        lifetime_days=1,
        question=MTurkQuestions.external(scenario.PAGE_URL.replace("&", "&amp;")),
        max_assignments=2,
        annotation=EXPERIMENT,
        qualifications=[
            required.min_approval(95),
            required.restrict_to_countries(["US"]),
            required.must_not_have(took_part_id),
        ],
        do_subscribe=False,
    )


def review(found: scenario.Found) -> scenario.Seen:
    service = _service()
    listed = list(service.get_hits(lambda hit: hit["annotation"] == EXPERIMENT))
    submitted = [service.get_assignment(one["assignment_id"]) for one in found]
    for one in found:
        _approve(service, one["assignment_id"])
        service.increment_named_qualification_score(EXPERIMENT, one["worker_id"])
    service.grant_bonus(found[0]["assignment_id"], scenario.BONUS_DOLLARS, scenario.BONUS_REASON)
    took_part = service.get_qualification_type_by_name(EXPERIMENT)["id"]
    service.revoke_qualification(took_part, found[1]["worker_id"])
    have_it = [worker["id"] for worker in service.get_workers_with_qualification(took_part)]
    assert have_it == [found[0]["worker_id"]], have_it
    assert service.extend_hit(found[0]["hit_id"], 1, duration_hours=1)["max_assignments"] == 3
    for hit in listed:
        service.disable_hit(hit["id"], EXPERIMENT)
    service.dispose_qualification_type(took_part)
    return {
        "listed": [hit["id"] for hit in listed],
        "submitted": [assignment["id"] for assignment in submitted],
        "balance": f"{service.account_balance():.2f}",
    }


def _approve(service: Service, assignment_id: str) -> None:
    """Approve, which is refused: its HITs are approved automatically after 0 seconds. Its recruiter ignores that,
    too."""
    try:
        service.approve_assignment(assignment_id)
    except MTurkServiceException as error:
        if "'status': 'Approved'" not in str(error):
            raise


def _service() -> Service:
    return Service(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"], "us-east-1", sandbox=False)


if __name__ == "__main__":
    scenario.run(publish, review)
