"""Run the scenario of `benchmarks.third_party_clients` with a tool, in two steps between which workers work.

publish          makes HITS HITs and prints their ids
review FOUND     lists HITs and assignments, approves or rejects, pays a bonus, deletes everything; prints what it saw

Each step is a process in the tool's own environment, with a folder of its own, so nothing here may import the project
or its dependencies. The last line that it prints is JSON.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

TITLE = "Rate replies"
DESCRIPTION = "Read dialogs and rate the replies."
KEYWORDS = ["dialogs", "rating"]
PAGE_URL = "https://eval.example.org/work?study=3&item=7"
REWARD_DOLLARS = 0.4
BONUS_DOLLARS = 0.25
BONUS_REASON = "All checks were passed"
HITS = 12  # more than MTurk lists on a page when it is not told how many
ENDPOINT = os.environ.get("LOCALTURK_URL", "")

Found = list[dict[str, str]]  # hit_id, assignment_id and worker_id of what was submitted, as a worker's page knows them
Seen = dict[str, Any]


def run(publish: Callable[[], list[str]], review: Callable[[Found], Seen]) -> None:
    step, *found = sys.argv[1:]
    result = publish() if step == "publish" else review(json.loads(found[0]))
    print(json.dumps(result))
