"""Drive psiTurk: its MTurkServicesWrapper, which its shell and dashboard call, on the boto3 of 2019 that it
requires."""

import collections
import collections.abc
from pathlib import Path
from typing import Any

for name in ("Mapping", "MutableMapping"):
    # Python 3.10 moved these names, but the botocore that psiTurk requires still looks for them in the old place.
    setattr(collections, name, getattr(collections.abc, name))

import boto3.session  # noqa: E402

from benchmarks.third_party import scenario  # noqa: E402

CONFIG = f"""
[HIT Configuration]
title = {scenario.TITLE}
description = {scenario.DESCRIPTION}
keywords = {", ".join(scenario.KEYWORDS)}
ad_url_domain = eval.example.org
[Database Parameters]
database_url = sqlite:///participants.db
"""


def main() -> None:
    Path("config.txt").write_text(CONFIG)
    _point_boto3_at(scenario.ENDPOINT)
    scenario.run(publish, review)


def _point_boto3_at(url: str) -> None:
    """Let boto3 call our marketplace. psiTurk knows two addresses, both Amazon's, and has no setting for a third."""
    client_of_session = boto3.session.Session.client

    def client(session: Any, service: str, **options: Any) -> Any:
        return client_of_session(session, service, **{**options, "endpoint_url": url})

    boto3.session.Session.client = client


def publish() -> list[str]:
    turk = _services()
    wanted = {"num_workers": 2, "reward": scenario.REWARD_DOLLARS, "duration": 1}
    return [_data(turk.create_hit(**wanted))["hit_id"] for _ in range(scenario.HITS)]


def review(found: scenario.Found) -> scenario.Seen:
    turk = _services()
    good, rejected_first = (one["assignment_id"] for one in found)
    listed = _data(turk.get_all_hits())
    submitted = _data(turk.get_assignments(all_studies=True, assignment_status="Submitted"))["assignments"]
    _data(turk.approve_assignment_by_assignment_id(good, all_studies=True))
    bonus = scenario.BONUS_DOLLARS, scenario.BONUS_REASON
    _data(turk.bonus_assignment_for_assignment_id(good, *bonus, all_studies=True))
    _data(turk.reject_assignment(rejected_first))
    _data(turk.unreject_assignment(rejected_first))
    _data(turk.extend_hit(found[0]["hit_id"], assignments=1, minutes=60))
    for result in [*_data(turk.expire_all_hits())["results"], *_data(turk.delete_all_hits())["results"]]:
        _data(result)
    return {
        "listed": [hit.options["hitid"] for hit in listed],
        "submitted": [assignment["assignmentId"] for assignment in submitted],
        "balance": _data(turk.amt_balance()),
    }


def _services() -> Any:
    from psiturk.amt_services_wrapper import MTurkServicesWrapper  # type: ignore[import-not-found]

    return MTurkServicesWrapper(mode="live")


def _data(response: Any) -> Any:
    """Return the data of psiTurk's response, or raise the exception in it: psiTurk catches them all."""
    if not response.success:
        raise response.exception
    return response.data


if __name__ == "__main__":
    main()
