"""Measure how often a classifier picks out the human reply by its looks: as written, as imported and as tidied.

    python -m benchmarks.human_by_looks [FILE]

The data are real outputs of eight published models beside the human reply (../shared/data/ed_test_candidates.jsonl).
The classifier learns on every other dialog and is judged on the rest. The second column is a classifier that reads
letters (runs of one to three characters): it sees wording, not only looks, and tidying changes no word.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import django
import numpy as np

FILE = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "ed_test_candidates.jsonl"
MODELS = [
    "Transformer(MoEL repo: trs)",
    "Multi-TR(MoEL repo: trs+multitask)",
    "MoEL",
    "MIME",
    "EmpDG",
    "EmoPrepend(EmpDG repo)",
    "EmpDG_woD",
    "EmpDG_woG",
]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
    django.setup()
    from generation.display import display_text
    from generation.style_check import check_on_other_half, check_style
    from generation.tidying import tidy_reply

    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    if not path.exists():
        print(f"Skipped: {path} is not here. Name a file of dialogs with `reference`, `context` and `candidates`.")
        return
    records = [one for one in map(json.loads, path.open()) if set(MODELS) <= set(one["candidates"])]
    ways: dict[str, Callable[[str, list[str]], str]] = {
        "as written": lambda text, context: text,
        "as imported (joined, capitalised)": display_text,
        "tidied (what studies show)": lambda text, context: tidy_reply(display_text(text, context)),
    }
    print(
        f"{len(records):,} dialogs, {len(MODELS)} models and the human reply; learnt on one half, judged on the other"
    )
    for name, show in ways.items():
        dialogs = [
            (show(one["reference"], one["context"]), [show(one["candidates"][m], one["context"]) for m in MODELS])
            for one in records
        ]
        half, all_folds = check_on_other_half(dialogs), check_style(dialogs)
        print(
            f"{name:35} looks {half.accuracy:.3f} [{half.low:.3f}, {half.high:.3f}], in five folds "
            f"{all_folds.accuracy:.3f}, letters {_by_letters(dialogs):.3f}, chance {half.chance:.3f}"
        )
        print(f"{'':35} by {'; '.join(map(str, all_folds.giveaways))}")


def _by_letters(dialogs: list[tuple[str, list[str]]]) -> float:
    """Return how often a logistic regression guesses right. It scores each reply, and guesses a dialog's highest."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    groups = [[gold, *sorted(set(others) - {gold})] for gold, others in dialogs]
    learnt, judged = groups[::2], groups[1::2]
    letters = TfidfVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False, sublinear_tf=True)
    rows = letters.fit_transform([f"^{text}$" for group in learnt for text in group])
    is_gold = [number == 0 for group in learnt for number in range(len(group))]
    model = LogisticRegression(C=10, max_iter=500, class_weight="balanced").fit(rows, is_gold)
    hits = [
        np.argmax(model.decision_function(letters.transform([f"^{text}$" for text in group]))) == 0 for group in judged
    ]
    return float(np.mean(hits))


if __name__ == "__main__":
    main()
