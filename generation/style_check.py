"""Decide whether looks alone give the human reply away, and what to advise.

A small classifier that sees nothing but looks (generation/looks.py) learns on some of the dialogs which of the replies
is the human one, and guesses on the others. If it is right clearly more often than chance, checkpoints measure eyesight
instead of judgement. It gets the texts as workers read them.

The classifier is a conditional logit (McFadden, 1974): within a dialog, P(reply is human) is proportional to
exp(w . looks). It is fitted by its likelihood with a ridge penalty, and judged by five-fold cross-validation over
dialogs: no dialog is guessed with weights that were fitted on it. We wrote it on numpy and scipy because scikit-learn
has no conditional logit.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.utils import timezone

from evalplatform.background_work import at_work
from generation.looks import LOOKS, Look
from generation.models import Dataset, Dialog, StyleCheck
from generation.tidying import tidy_reply

NOTABLE_EXCESS = 0.10
FEWEST_DIALOGS = 20
MOST_DIALOGS = 1_000
FOLDS = 5
RIDGE = 1.0
MOST_GIVEAWAYS = 4

Texts = tuple[str, Sequence[str]]  # the gold, and the candidates, of one dialog


@dataclass(frozen=True)
class Giveaway:
    """A look in which human replies differ from the models' on average, with words that say how."""

    words: str
    kind: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class StyleReport:
    """`accuracy` is the share of dialogs in which the classifier found the human reply, with its 95 % interval."""

    dialog_count: int
    chance: float = 0.0
    accuracy: float = 0.0
    low: float = 0.0
    high: float = 0.0
    giveaways: tuple[Giveaway, ...] = ()

    @property
    def is_judged(self) -> bool:
        return self.dialog_count >= FEWEST_DIALOGS

    @property
    def is_notable(self) -> bool:
        """True if the interval lies above chance by more than NOTABLE_EXCESS."""
        return self.is_judged and self.low > self.chance + NOTABLE_EXCESS

    @property
    def verdict(self) -> str:
        """Say in a word or two whether looks give the human reply away."""
        if self.is_notable:
            return "Yes."
        return "Hardly." if self.high <= self.chance + NOTABLE_EXCESS else "Not shown, and not ruled out."

    @property
    def sentence(self) -> str:
        if not self.is_judged:
            return (
                f"Too few dialogs to tell: {self.dialog_count:,} have both a human reply and a model's, and "
                f"{FEWEST_DIALOGS} are needed."
            )
        return (
            f"A classifier that sees only looks (length, case, punctuation, spacing) finds the human reply in "
            f"{self.accuracy:.0%} of {self.dialog_count:,} dialogs (95 % interval {self.low:.0%} to {self.high:.0%}); "
            f"chance finds it in {self.chance:.0%}."
        )

    @property
    def advice(self) -> list[str]:
        """Say what to do about each giveaway; nothing if there is none."""
        kinds = {giveaway.kind for giveaway in self.giveaways} if self.is_notable else set()
        return [words for kind, words in ADVICE.items() if kind in kinds]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "is_judged": self.is_judged,
            "is_notable": self.is_notable,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "advice": self.advice,
            "giveaways": [asdict(giveaway) for giveaway in self.giveaways],
        }


ADVICE = {
    "typing": 'Let the study show tidied replies (task.reply_style = "tidied", the default): that evens out case, '
    "spacing, apostrophes and the final stop.",
    "length": "Take checkpoints from dialogs in which people and models write at about the same length, or let the "
    "models answer at the length of people.",
    "manner": "This is how the models write, and showing them differently would change what is judged. Do not take "
    "bonus points as proof of attention: beside points, screen by time and by agreement with others.",
}


def check_style(dialogs: Iterable[Texts]) -> StyleReport:
    """Measure how well looks tell each dialog's gold from its candidates, all as shown, and which looks do."""
    groups = [[gold, *others] for gold, others in map(_drop_repeated, dialogs) if others]
    if len(groups) < FEWEST_DIALOGS:
        return StyleReport(len(groups))
    table = _Table(groups)
    folds = np.arange(len(groups)) % FOLDS
    hits = np.zeros(len(groups))
    for fold in range(FOLDS):
        hits[folds == fold] = table.hits(table.fit(folds != fold), folds == fold)
    return _make_report(hits, table.chance, _find_giveaways(groups, table))


def check_on_other_half(dialogs: Iterable[Texts]) -> StyleReport:
    """Do the same as check_style, but learn on every other dialog and judge once, on the rest."""
    groups = [[gold, *others] for gold, others in map(_drop_repeated, dialogs) if others]
    table = _Table(groups)
    is_learnt = np.arange(len(groups)) % 2 == 0
    return _make_report(table.hits(table.fit(is_learnt), ~is_learnt), table.chance, _find_giveaways(groups, table))


def request_style_check(dataset: Dataset, send: Callable[[Dataset], None], now: datetime) -> None:
    """Ask a background process for the check, unless someone else has."""
    StyleCheck.objects.get_or_create(dataset=dataset)
    StyleCheck.objects.filter(dataset=dataset).request_once(lambda: send(dataset), now)


def carry_out_style_check(dataset: Dataset, now: Callable[[], datetime]) -> None:
    """Check what was asked for; do nothing if another process has done it already."""
    row = StyleCheck.objects.filter(dataset=dataset)
    if not row.note_start_unless_done(now()):
        return
    with at_work(row, now, "The check failed."):
        check_dataset_style(dataset)


def check_dataset_style(dataset: Dataset) -> StyleReport:
    """Check up to MOST_DIALOGS dialogs of the dataset, tidied as studies show them, and store the findings."""
    texts = [
        (dialog.display_gold, [candidate.display_text for candidate in dialog.candidates.all()])
        for dialog in _choose_dialogs(dataset)
    ]
    report = check_style(_show_texts(texts, tidy_reply))
    as_written = check_style(texts)
    dataset.style_findings = report.as_json() | {"as_written": as_written.sentence if as_written.is_notable else ""}
    dataset.style_checked_at = timezone.now()
    dataset.save(update_fields=["style_findings", "style_checked_at"])
    return report


def _choose_dialogs(dataset: Dataset) -> Iterable[Dialog]:
    return (
        Dialog.objects.with_gold()
        .filter(dataset=dataset, candidates__isnull=False)
        .distinct()
        .order_by("context_key")  # as good as random, and the same each time
        .prefetch_related("candidates")[:MOST_DIALOGS]
    )


def _show_texts(dialogs: Iterable[Texts], show: Callable[[str], str]) -> list[Texts]:
    return [(show(gold), [show(text) for text in candidates]) for gold, candidates in dialogs]


def _drop_repeated(texts: Texts) -> tuple[str, list[str]]:
    """Drop repeated texts, since equal replies are one card."""
    gold, candidates = texts
    return gold, sorted(set(candidates) - {gold})


class _Table:
    """The looks of all replies, standardised. Each dialog's human reply is the first row of its group."""

    def __init__(self, groups: Sequence[Sequence[str]]) -> None:
        rows = np.array([_row(text) for group in groups for text in group])
        spread = rows.std(axis=0)
        self.rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)
        self.sizes = np.array([len(group) for group in groups])
        self.chance = float(np.mean(1 / self.sizes))
        self._group_of_row = np.repeat(np.arange(len(groups)), self.sizes)

    def fit(self, is_chosen: np.ndarray) -> np.ndarray:
        """Return the weights, fitted on the chosen dialogs."""
        from scipy.optimize import minimize  # imported here: it takes a second, and most processes never need it

        rows, sizes = self.rows[is_chosen[self._group_of_row]], self.sizes[is_chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

        def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            scores = rows @ weights
            largest = np.maximum.reduceat(scores, starts)
            exponentials = np.exp(scores - np.repeat(largest, sizes))
            totals = np.add.reduceat(exponentials, starts)
            shares = exponentials / np.repeat(totals, sizes)
            shares[starts] -= 1  # gradient by the scores: predicted share minus 1 for the human reply, minus 0 else
            likelihood = np.sum(scores[starts] - largest - np.log(totals))
            return float(RIDGE * weights @ weights / 2 - likelihood), rows.T @ shares + RIDGE * weights

        return np.asarray(minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B").x)

    def hits(self, weights: np.ndarray, is_chosen: np.ndarray) -> np.ndarray:
        """Return for each chosen dialog 1 if the human reply has the highest score, its share of a tie, or 0."""
        scores = np.round(self.rows @ weights, 9)
        groups = np.split(scores, np.cumsum(self.sizes)[:-1])
        return np.array(
            [
                (group[0] == group.max()) / np.sum(group == group.max())
                for group, chosen in zip(groups, is_chosen, strict=True)
                if chosen
            ]
        )


def _row(text: str) -> list[float]:
    # The square of the length is there because human replies may stand out by being neither short nor long.
    return [look.of(text) for look in LOOKS] + [LOOKS[0].of(text) ** 2]


def _make_report(hits: np.ndarray, chance: float, giveaways: tuple[Giveaway, ...]) -> StyleReport:
    from scipy.stats import binomtest

    interval = binomtest(round(float(hits.sum())), len(hits)).proportion_ci(method="wilson")
    return StyleReport(len(hits), chance, float(hits.mean()), float(interval.low), float(interval.high), giveaways)


def _find_giveaways(groups: Sequence[Sequence[str]], table: _Table) -> tuple[Giveaway, ...]:
    """Return the looks that raise the scores of human replies most: a look's weight times its mean difference, if that
    is more than a twentieth of all that raises them."""
    weights = table.fit(np.ones(len(groups), dtype=bool))
    is_gold = np.zeros(len(table.rows), dtype=bool)
    is_gold[np.cumsum(table.sizes) - table.sizes] = True
    difference = table.rows[is_gold].mean(axis=0) - table.rows[~is_gold].mean(axis=0)
    pushes = weights * difference
    pushes[0] += pushes[-1]
    pushes = pushes[: len(LOOKS)]
    enough = max(pushes[pushes > 0].sum() / 20, 1e-6)
    chosen = [number for number in np.argsort(-pushes)[:MOST_GIVEAWAYS] if pushes[number] > enough]
    golds = [group[0] for group in groups]
    others = [text for group in groups for text in group[1:]]
    return tuple(_describe(LOOKS[number], golds, others) for number in chosen)


def _describe(look: Look, golds: Sequence[str], others: Sequence[str]) -> Giveaway:
    of_golds = sum(map(look.measure, golds)) / len(golds)
    of_others = sum(map(look.measure, others)) / len(others)
    if look.unit != "%":
        words = look.more if of_golds >= of_others else look.less
        return Giveaway(f"{words} ({of_golds:.1f} {look.unit} on average, the models' {of_others:.1f})", look.kind)
    if of_golds >= of_others:
        return Giveaway(f"{look.more} ({of_golds:.0%} of the human replies, {of_others:.0%} of the models')", look.kind)
    return Giveaway(
        f"{look.less} ({1 - of_golds:.0%} of the human replies, {1 - of_others:.0%} of the models')", look.kind
    )
