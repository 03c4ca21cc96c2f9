"""Measure how often the human reply can be found by trial and error with unlimited checks, and which rules notice.

python -m benchmarks.screening_trials [--seed 1]

Workers who don't read anything use the real pages and the local marketplace, in a new SQLite database. Each way of
trying has its own study of the example corpus, with 24 assignments of 3 checkpoints. `knew` is how often they knew for
sure which reply was the human one; `passed first` is how many first checks passed; then come the points in a study that
counts the final placement, and in one that counts the first check. The table below simulates how often the rule
`moved_after_check` would name honest workers who change some of the cards after a check.
"""

import argparse
import os
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from hits.models import Hit, Study

ROOT = Path(__file__).resolve().parent.parent
GOOD, BAD = 0, 2  # levels of the scale
LEVELS = 3
WORKERS = 4
DRAWN = 20_000
MINUTES = timedelta(minutes=15)  # each seems to have taken so long, so that no rule about time finds them

Check = Callable[[Sequence[int]], bool]  # of the level of the card at each place
Way = Callable[[int, Check, random.Random], "int | None"]


# --- Ways of trying: cards by their places; the place of the human reply where it is known then -----------------------


def one_by_one(cards: int, check: Check, dice: random.Random) -> int | None:
    """Put one reply into good and all others into bad, until the check is won. The last one needs no check."""
    for place in range(cards - 1):
        if check(_good({place}, cards)):
            return place
    return cards - 1


def by_halves(cards: int, check: Check, dice: random.Random) -> int | None:
    suspects = list(range(cards))
    while len(suspects) > 1:
        half = set(suspects[: len(suspects) // 2])
        is_in_half = check(_good(half, cards))
        suspects = [place for place in suspects if (place in half) == is_in_half]
    return suspects[0]


def everything_good(cards: int, check: Check, dice: random.Random) -> int | None:
    """Put everything into good: the check is won, but tells nothing."""
    check(_good(set(range(cards)), cards))
    return None


def never(cards: int, check: Check, dice: random.Random) -> int | None:
    return None


WAYS: dict[str, Way] = {
    "at random, no check": never,
    "everything good, then at random": everything_good,
    "one reply after the other": one_by_one,
    "by halves": by_halves,
}


def _good(places: set[int], cards: int) -> list[int]:
    return [GOOD if place in places else BAD for place in range(cards)]


# --- Through the pages ------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    checkpoints: int = 0
    known: int = 0
    checks: Counter[int] = field(default_factory=Counter)  # how many a checkpoint took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"VAR_DIR": folder, "DATABASE_URL": "", "LOG_LEVEL": "ERROR"}
        os.environ["DJANGO_SETTINGS_MODULE"] = "evalplatform.settings"
        _prepare()
        print(
            f"{'':32} {'checks each':>12} {'most':>5} {'knew':>6} {'passed first':>13} {'final':>6} "
            f"{'first check':>12}   rules that name them"
        )
        for name, way in WAYS.items():
            _print_way(name, way, random.Random(seed))
        _print_afterthoughts(random.Random(seed))


def _prepare() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from generation.importing import import_candidates, import_dialogs

    call_command("migrate", verbosity=0)
    for name in ("subtitles", "emotional", "empathetic"):
        import_dialogs(ROOT / "examples" / "corpus" / f"{name}.jsonl", f"example-{name}")
    import_candidates(ROOT / "examples" / "corpus" / "candidates.jsonl")


def _print_way(name: str, way: Way, dice: random.Random) -> None:
    from django.utils import timezone

    from hits.collecting import collect
    from hits.crowds.mturk.crowd import connect
    from hits.frames import study_frames
    from hits.frames.submissions_frame import submissions_frame
    from hits.models import offering_for
    from hits.screening import find_flags
    from simulated_crowd.market_side import ensure_accounts
    from simulated_crowd.people import SimulatedWorker
    from simulated_crowd.worker_types import RANDOM

    study = _publish(f"trial-{list(WAYS).index(name)}")
    accounts = ensure_accounts([SimulatedWorker(number, RANDOM, 1) for number in range(WORKERS)])
    tally = Tally()
    for account in accounts.values():
        for hit in study.hits.all():
            _work(hit, account, way, dice, tally)
    collect(offering_for(study, "local"), connect(), timezone.now())
    frames = study_frames(offering_for(study, "local"))
    sums = frames.submissions[["points", "first_points", "checkpoints", "attempts"]].sum()
    named = {rule: len({one.worker for one in found}) for rule, found in find_flags(frames, []).items()}
    row = f"{name:32} {sums['attempts'] / tally.checkpoints:>12.2f} {max(tally.checks):>5} "
    row += f"{tally.known / tally.checkpoints:>6.0%} {sums['first_points'] / tally.checkpoints:>13.0%} "
    study.design = {**study.design, "checkpoints": {**study.design["checkpoints"], "counts": "first check"}}
    by_first = submissions_frame(offering_for(study, "local"))["points"].sum()
    row += f"{sums['points'] / tally.checkpoints:>6.0%} {by_first / tally.checkpoints:>12.0%}   "
    print(row + (", ".join(f"{rule} {count} of {WORKERS}" for rule, count in named.items()) or "none"), flush=True)


def _publish(name: str) -> "Study":
    from django.utils import timezone

    from hits.batching import build_hits
    from hits.crowds import worker_page_url
    from hits.crowds.mturk.crowd import connect
    from hits.designing import create_study, read_study_file
    from hits.models import offering_for
    from hits.publishing import plan_publishing, publish_hits

    settings = {**read_study_file(ROOT / "examples" / "demo.toml"), "name": name}
    study = create_study(settings)
    build_hits(study)
    study.refresh_from_db()
    publish_hits(
        plan_publishing(offering_for(study, "local")),
        connect(),
        worker_page_url(offering_for(study, "local")),
        timezone.now,
    )
    return study


def _work(hit: "Hit", account: Any, way: Way, dice: random.Random, tally: Tally) -> None:
    from django.db.models import F
    from django.utils import timezone

    from hits.models import Assignment, Publication
    from hits.protocols import usual_protocol
    from localturk import working
    from localturk.models import TurkAssignment, TurkHit

    crowd_hit_id = Publication.objects.get(hit=hit).crowd_hit_id
    held = working.accept(account, TurkHit.objects.get(hit_id=crowd_hit_id), timezone.now())
    page = _Page(hit, held.assignment_id, crowd_hit_id, account.worker_id)
    dialogs = []
    for position, dialog in enumerate(page.data["dialogs"]):
        cards, place = len(dialog["cards"]), None
        if dialog["has_bonus"]:
            place = way(cards, partial(page.check, position), dice)
            tally.checkpoints += 1
            tally.known += place is not None
            tally.checks[page.attempts[position]] += 1
        levels = [dice.randrange(LEVELS) for _ in range(cards)]
        if place is not None:
            levels[place] = GOOD
        about = {"position": position, "revision": page.revisions[position], "active_ms": 60_000}
        dialogs.append({**about, **usual_protocol().sent_by(levels)})
    fields = page.call("submit", {"feedback": "", "dialogs": dialogs})["fields"]
    working.submit(held.assignment_id, account, {name: [value] for name, value in fields.items()}, timezone.now())
    Assignment.objects.filter(crowd_assignment_id=held.assignment_id).update(opened_at=F("opened_at") - MINUTES)
    TurkAssignment.objects.filter(pk=held.pk).update(accepted_at=F("accepted_at") - MINUTES)


class _Page:
    """A script that sends our server the same requests as the page."""

    def __init__(self, hit: "Hit", assignment_id: str, crowd_hit_id: str, worker_id: str) -> None:
        import json

        from simulated_crowd.channels import InProcess
        from simulated_crowd.visiting import DATA_START

        self._channel = InProcess()
        query = {"assignmentId": assignment_id, "hitId": crowd_hit_id, "workerId": worker_id}
        query["turkSubmitTo"] = f"{self._channel.site}/market"
        reply = self._channel.send("GET", f"/work/{hit.study.key}/{hit.number}/?{urlencode(query)}")
        self.data = json.loads(reply.text.split(DATA_START, 1)[1].split("</script>", 1)[0])
        self.attempts: Counter[int] = Counter()
        self.revisions: Counter[int] = Counter()

    def check(self, position: int, levels: Sequence[int]) -> bool:
        from hits.protocols import usual_protocol

        self.attempts[position] += 1
        about = {"position": position, "revision": self.revisions[position], "attempt": self.attempts[position]}
        answer = self.call("check", {**about, **usual_protocol().sent_by(levels)})
        self.revisions[position] = answer["revision"]
        return bool(answer["bonus"]["passed"])

    def call(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        import json

        headers = {"Authorization": f"Assignment {self.data['token']}"}
        reply = self._channel.send("POST", f"/work/api/{name}/", json.dumps(body).encode(), headers)
        if reply.status != 200:
            raise SystemExit(f"{name} was refused: {reply.text}")
        answer: dict[str, Any] = json.loads(reply.text)
        return answer


# --- Honest second thoughts -------------------------------------------------------------------------------------------


def _print_afterthoughts(dice: random.Random) -> None:
    from hits.protocols.areas import REDONE_SHARE
    from hits.screening.attention_rules import MovedAfterCheck

    rule = MovedAfterCheck()
    print(f"\nof workers who change cards after a check, moved_after_check (share {rule.share}) names")
    print(f"{'by how many checkpoints they won':32}" + "".join(f"{count:>10}" for count in (3, 9, 30)))
    for chance in (0.05, 0.1, 0.2, 2 / 3):
        shares = [_named_share(chance, count, rule.share, REDONE_SHARE, dice) for count in (3, 9, 30)]
        label = f"{chance:.0%} of them" if chance < 0.5 else "all of them anew, at random"
        print(f"{label:32}" + "".join(f"{share:>10.2%}" for share in shares))


def _named_share(chance: float, checkpoints: int, least: float, moved_share: float, dice: random.Random) -> float:
    """Return the share of workers whom the rule names, if each of a dialog's five cards is changed with this chance."""

    def is_named() -> bool:
        moved: Sequence[bool] = [
            sum(dice.random() < chance for _ in range(5)) >= moved_share * 5 for _ in range(checkpoints)
        ]
        return sum(moved) >= least * checkpoints

    drawn = DRAWN // checkpoints
    return sum(is_named() for _ in range(drawn)) / drawn


if __name__ == "__main__":
    main()
