"""Drive Mephisto: its requester, units, agents and workers on its own database, and its script that cleans up."""

import dataclasses
import functools
import io
import json
import sys
from pathlib import Path
from typing import Any

# Since Python 3.11 a dataclass may not be another's default unless it can be hashed.
dataclasses.dataclass = functools.partial(dataclasses.dataclass, unsafe_hash=True)

from benchmarks.third_party import scenario  # noqa: E402

REQUESTER = "localturk"
QUALIFICATION = "rated-before"


def publish() -> list[str]:
    db = _database()
    run = _task_run(db, _requester(db))
    units = [_launch_unit(db, run) for _ in range(scenario.HITS)]
    assert len(units) == scenario.HITS
    return list(db.get_datastore_for_provider("mturk").get_unassigned_hit_ids(run.db_id))


def review(found: scenario.Found) -> scenario.Seen:
    from mephisto.abstractions.providers.mturk import mturk_utils  # type: ignore[import-not-found]

    db = _database()
    requester = db.find_requesters(requester_name=REQUESTER)[0]
    client = requester._get_client(REQUESTER)
    listed = [hit for hits in mturk_utils.get_outstanding_hits(client).values() for hit in hits]
    submitted = [one for hit in listed for one in mturk_utils.get_assignments_for_hit(client, hit["HITId"])]
    _judge(db, requester, found)
    _clean_up()
    return {
        "listed": [hit["HITId"] for hit in listed],
        "submitted": [assignment["AssignmentId"] for assignment in submitted],
        "balance": f"{requester.get_available_budget():.2f}",
    }


def _database() -> Any:
    from mephisto.abstractions.databases.local_database import LocalMephistoDB  # type: ignore[import-not-found]
    from mephisto.operations.config_handler import add_config_arg  # type: ignore[import-not-found]

    add_config_arg("core", "main_data_directory", str(Path.cwd()))
    return LocalMephistoDB()


def _requester(db: Any) -> Any:
    from mephisto.abstractions.providers.mturk.mturk_requester import MTurkRequester  # type: ignore[import-not-found]
    from omegaconf import OmegaConf  # type: ignore[import-not-found]

    requester = MTurkRequester.new(db, REQUESTER)
    requester.register(OmegaConf.create({"access_key_id": "any", "secret_access_key": "any"}))
    assert requester.is_registered()
    return requester


def _task_run(db: Any, requester: Any) -> Any:
    from mephisto.abstractions.blueprint import SharedTaskState  # type: ignore[import-not-found]
    from mephisto.abstractions.providers.mturk.mturk_provider import (  # type: ignore[import-not-found]
        MTurkProvider,
        MTurkProviderArgs,
    )
    from mephisto.data_model.task_run import TaskRun, TaskRunArgs  # type: ignore[import-not-found]
    from mephisto.utils.testing import MOCK_CONFIG  # type: ignore[import-not-found]
    from omegaconf import OmegaConf

    task = TaskRunArgs(
        task_title=scenario.TITLE,
        task_description=scenario.DESCRIPTION,
        task_tags=",".join(scenario.KEYWORDS),
        task_reward=scenario.REWARD_DOLLARS,
        assignment_duration_in_seconds=3600,
    )
    config = OmegaConf.structured(dataclasses.replace(MOCK_CONFIG, task=task, provider=MTurkProviderArgs()))
    run_id = db.new_task_run(
        db.new_task("rate-replies", "mock"), requester.db_id, json.dumps(OmegaConf.to_yaml(config)), "mturk", "mock"
    )
    run = TaskRun.get(db, run_id)
    MTurkProvider(db).setup_resources_for_task_run(run, config, SharedTaskState(), scenario.PAGE_URL)
    return run


def _launch_unit(db: Any, run: Any) -> Any:
    from mephisto.abstractions.providers.mturk.mturk_unit import MTurkUnit  # type: ignore[import-not-found]
    from mephisto.data_model.assignment import Assignment  # type: ignore[import-not-found]

    assignment_id = db.new_assignment(run.task_id, run.db_id, run.requester_id, run.task_type, run.provider_type)
    unit = MTurkUnit.new(db, Assignment.get(db, assignment_id), 0, scenario.REWARD_DOLLARS)
    unit.launch(scenario.PAGE_URL)
    return unit


def _judge(db: Any, requester: Any, found: scenario.Found) -> None:
    good, rejected_first = (_agent(db, one, unit) for one, unit in zip(found, db.find_units(), strict=False))
    good.approve_work()
    worker = good.get_worker()
    paid, why_not = worker.bonus_worker(scenario.BONUS_DOLLARS, scenario.BONUS_REASON, good.get_unit())
    assert paid, why_not
    rejected_first.reject_work("A mistake of ours")
    rejected_first.approve_work()
    worker.grant_crowd_qualification(QUALIFICATION)
    worker.revoke_crowd_qualification(QUALIFICATION)
    worker.block_worker("Only to see that it can be undone", requester=requester)
    assert worker.is_blocked(requester)
    worker.unblock_worker("Undone", requester)
    assert not worker.is_blocked(requester)


def _agent(db: Any, one: dict[str, str], unit: Any) -> Any:
    from mephisto.abstractions.providers.mturk.mturk_agent import MTurkAgent  # type: ignore[import-not-found]
    from mephisto.abstractions.providers.mturk.mturk_worker import MTurkWorker  # type: ignore[import-not-found]

    agent = MTurkAgent.new_from_provider_data(db, MTurkWorker.new(db, one["worker_id"]), unit, one)
    assert unit.get_status() == "completed", unit.get_status()
    return agent


def _clean_up() -> None:
    """Answer the questions of its script as a person would, twice: it first expires HITs that can't be deleted yet."""
    from mephisto.scripts.mturk import cleanup  # type: ignore[import-not-found]

    for _ in range(2):
        sys.stdin = io.StringIO(f"{REQUESTER}\nall\n")
        cleanup.main()


if __name__ == "__main__":
    scenario.run(publish, review)
