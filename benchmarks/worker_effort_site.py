"""Set up the site of `benchmarks.worker_effort`: `migrate` its database, or `publish` a study of texts from stdin."""

import json
import sys
import tempfile
from pathlib import Path

DIALOGS = 4


def publish(turns: list[str], replies: list[str]) -> None:
    from django.core.management import call_command

    from generation.importing import import_candidates, import_dialogs
    from hits.batching import build_hits
    from hits.designing import create_study
    from localturk.seeding import ensure_worker_accounts

    names = [f"model {number}" for number in range(len(replies))]
    # The same replies in every dialog, so that every way to work moves the same cards; contexts must differ.
    contexts = [[f"{turns[0]}", f"{turns[1]}{' ' if number else ''}{'…' * number}"] for number in range(DIALOGS)]
    with tempfile.TemporaryDirectory() as folder:
        dialogs, candidates = Path(folder) / "dialogs.jsonl", Path(folder) / "candidates.jsonl"
        rows = [{"id": str(number), "context": context} for number, context in enumerate(contexts)]
        dialogs.write_text("\n".join(map(json.dumps, rows)))
        given = dict(zip(names, replies, strict=True))
        lines = [{"id": str(number), "dataset": "effort", "candidates": given} for number in range(DIALOGS)]
        candidates.write_text("\n".join(map(json.dumps, lines)))
        import_dialogs(dialogs, "effort")
        import_candidates(candidates)
    study = create_study(
        {
            "name": "effort",
            "generators": names,
            "datasets": [{"name": "effort", "dialogs": DIALOGS}],
            "hits": {"dialogs": DIALOGS, "assignments": 9},
            "checkpoints": {"per_hit": 0},
            "pay": {"bonus": "0", "bonus_points": 0, "reward": "5"},
            "screening": [],
        }
    )
    build_hits(study)
    ensure_worker_accounts()
    call_command("publish_hits", study.name, hits=1, verbosity=0)


if __name__ == "__main__":
    import django

    django.setup()
    if sys.argv[1] == "migrate":
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
    else:
        publish(*json.load(sys.stdin))
