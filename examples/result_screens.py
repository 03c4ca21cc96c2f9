"""Make studies of 3, 8 and 20 models on one or three datasets, and take pictures of their results pages.

examples.screenshots runs this with --results. Ratings are put into the database by a simulated crowd of known truth, so
every page says that it is simulated.
"""

import json
import random
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

BEGUN_AT = datetime(2026, 11, 16, 8, tzinfo=UTC)
SIZES = ((3, 1), (3, 3), (8, 1), (8, 3), (20, 1), (20, 3))  # models and datasets
DIALOGS = 120
RATERS = 4
WORKERS = 40
NAMES = (
    *("meed2", "blender-400m", "caire", "dialogpt-large", "emphi", "kemp", "mime", "moel"),
    *("empdg", "cem-base", "seek-large", "gpt2-finetuned-empathetic-dialogues", "t5-small", "t5-base", "bart-large"),
    *("retrieval-tfidf", "retrieval-dense", "parrot", "generic", "random-reply"),
)
DEVICES: dict[str, Any] = {
    "laptop": {"viewport": {"width": 1366, "height": 768}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True},
}


def make_studies() -> list[str]:
    """Make the studies with their results, and return their names."""
    from django.utils import timezone

    from hits.batching import build_hits
    from hits.designing import create_study
    from hits.models import offering_for
    from hits.screening import screen
    from hits.tasks import compute_results_of_offering

    names = []
    for models, datasets in SIZES:
        parts = [_import_texts(f"{models}x{datasets}-{letter}", models, datasets) for letter in "abc"[:datasets]]
        name = f"models-{models}-datasets-{datasets}"
        study = create_study(
            {
                "name": name,
                "generators": [f"{one}" for one in NAMES[:models]],
                "datasets": [{"name": part, "dialogs": DIALOGS // datasets} for part in parts],
                "checkpoints": {"datasets": parts},
            }
        )
        build_hits(study)
        study.refresh_from_db()
        _rate(study)
        offering = offering_for(study, "local")
        screen(offering, timezone.now())
        compute_results_of_offering(offering.pk)
        names.append(name)
    return names


def _import_texts(dataset: str, models: int, datasets: int) -> str:
    from generation.importing import import_candidates, import_dialogs

    count = DIALOGS // datasets
    dialogs = [
        {"id": f"{dataset}-{at}", "context": [f"I had a long day, number {at}."], "reference": f"Tell me more, {at}."}
        for at in range(count)
    ]
    replies = [
        {
            "id": one["id"],
            "dataset": dataset,
            "candidates": {name: f"Reply {place} to {at}." for place, name in enumerate(NAMES[:models])},
        }
        for at, one in enumerate(dialogs)
    ]
    with tempfile.TemporaryDirectory() as folder:
        for what, lines in (("dialogs", dialogs), ("replies", replies)):
            Path(folder, f"{what}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        import_dialogs(Path(folder, "dialogs.jsonl"), dataset)
        import_candidates(Path(folder, "replies.jsonl"))
    return dataset


def _rate(study: Any) -> None:
    from generation.models import Candidate
    from hits.models import Publication, offering_for
    from simulated_crowd.filling import Done, fill

    names = dict(Candidate.objects.values_list("pk", "generator__name"))
    offering = offering_for(study, "local")
    work = []
    for hit in study.hits.prefetch_related("items"):
        Publication.objects.create(
            hit=hit, offering=offering, crowd_hit_id=f"HIT{hit.pk}", intended_at=BEGUN_AT, published_at=BEGUN_AT
        )
        begun_at = BEGUN_AT + timedelta(minutes=30 * hit.number)
        for number in range(RATERS):
            worker = f"WORKER{(hit.number * RATERS + number) % WORKERS}"
            work.append(Done(hit, worker, f"{hit.pk}-{number}", number, begun_at, _judge(names)))
    fill(work, random.Random(1))  # noqa: S311  # a simulation


def _judge(names: dict[int, str]) -> Callable[[Any, random.Random], str]:
    def judge(card: Any, rng: random.Random) -> str:
        rank = -2 if card.is_gold or not card.candidates else NAMES.index(names[card.candidates[0]]) // 2
        good = max(0.05, 0.52 - 0.06 * rank)
        return rng.choices(["good", "okay", "bad"], [good, 0.3, max(0.05, 0.7 - good)])[0]

    return judge


def shoot_results(browser: Browser, address: str, state: Any, names: list[str], out: Path) -> Iterator[Path]:
    """Take the first screen and the whole page, with every fold open, of each study on each device."""
    for device, settings in DEVICES.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(
                base_url=address, storage_state=state, color_scheme=scheme, reduced_motion="reduce", **settings
            )
            page = context.new_page()
            for name in names:
                page.goto(f"/studies/{name}/results/")
                page.locator(".leaderboard").wait_for()
                yield _shoot(page, out / f"{name}-{device}-{scheme}.png")
                page.evaluate("document.querySelectorAll('.results-main details.fold').forEach(one => one.open = true)")
                yield _shoot(page, out / f"{name}-{device}-{scheme}-whole.png", is_whole=True)
            context.close()


def _shoot(page: Page, path: Path, is_whole: bool = False) -> Path:
    page.screenshot(path=path, full_page=is_whole, animations="disabled")
    return path
