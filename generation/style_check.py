"""Could a worker pick out the human reply by its looks alone?

For each outward feature (length, case, spacing) a guesser that sees nothing else picks, in every dialog, the reply in
which the feature is strongest, and draws lots among equals. If that finds the gold clearly more often than chance, the
feature gives it away: checkpoints measure eyesight instead of judgement. Checked on the texts that workers read.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.utils import timezone

from generation.models import Dataset, Dialog

NOTABLE_EXCESS = 0.10
FEWEST_DIALOGS = 20
MAX_DIALOGS = 2_000

_SPACE_BEFORE_PUNCTUATION = re.compile(r"\s[.,!?;:]")
_NO_SPACE_AFTER_PUNCTUATION = re.compile(r"[^\W\d_]{2}[.,!?;:][^\W\d_]{2}")
_SMALL_I = re.compile(r"\bi\b")
_LATER_SENTENCE = re.compile(r"[^\W\d_]{2}[.!?]\s+(\w)")  # not what follows "e.g."
_INNER_WORD = re.compile(r"(?<=[\w,;])\s+(?!I\b)(\w)")

FEATURES: dict[str, Callable[[str], float]] = {
    "being the longest": len,
    "being the shortest": lambda text: -len(text),
    "having capital letters": lambda text: _has_capital(text),
    "having no capital letters": lambda text: not _has_capital(text),
    "having small letters": lambda text: _has_small(text),
    "having no small letters": lambda text: not _has_small(text),
    "beginning with a small letter": lambda text: text[:1].islower(),
    "beginning with a capital letter": lambda text: text[:1].isupper(),
    "sentences that begin small": lambda text: _has_small(_LATER_SENTENCE.findall(text)),
    "having no sentences that begin small": lambda text: not _has_small(_LATER_SENTENCE.findall(text)),
    "having capital letters inside sentences": lambda text: _has_capital(_INNER_WORD.findall(text)),
    "having no capital letters inside sentences": lambda text: not _has_capital(_INNER_WORD.findall(text)),
    "a small i": lambda text: bool(_SMALL_I.search(text)),
    "having no small i": lambda text: not _SMALL_I.search(text),
    "spaces before punctuation": lambda text: bool(_SPACE_BEFORE_PUNCTUATION.search(text)),
    "having no spaces before punctuation": lambda text: not _SPACE_BEFORE_PUNCTUATION.search(text),
    "punctuation without a space after it": lambda text: bool(_NO_SPACE_AFTER_PUNCTUATION.search(text)),
    "having a space after all punctuation": lambda text: not _NO_SPACE_AFTER_PUNCTUATION.search(text),
    "double spaces": lambda text: "  " in text,
    "having no double spaces": lambda text: "  " not in text,
    "line breaks": lambda text: "\n" in text,
    "having no line breaks": lambda text: "\n" not in text,
    "ending without punctuation": lambda text: text.rstrip()[-1:].isalnum(),
    "ending with punctuation": lambda text: not text.rstrip()[-1:].isalnum(),
}


def _has_capital(characters: Iterable[str]) -> bool:
    return any(character.isupper() for character in characters)


def _has_small(characters: Iterable[str]) -> bool:
    return any(character.islower() for character in characters)


@dataclass(frozen=True)
class Finding:
    """A guesser by this feature finds the gold in `hit_rate` of the dialogs, where chance finds it in `chance`."""

    feature: str
    hit_rate: float
    chance: float
    dialog_count: int

    def __str__(self) -> str:
        return (
            f"{self.feature}: finds the human reply in {self.hit_rate:.0%} of {self.dialog_count:,} dialogs "
            f"(chance: {self.chance:.0%})"
        )


@dataclass(frozen=True)
class StyleReport:
    dialog_count: int
    findings: list[Finding]


def check_style(dialogs: Iterable[tuple[str, Sequence[str]]]) -> StyleReport:
    """For (gold, candidates' display texts) of each dialog, the features that give the gold away, worst first.

    A feature is reported when the 95 % interval (normal, over dialogs) of hit rate minus chance lies above
    NOTABLE_EXCESS, on FEWEST_DIALOGS or more: what is too small to use, or too few to be sure, raises no alarm.
    """
    excesses: dict[str, list[float]] = {feature: [] for feature in FEATURES}
    chances: list[float] = []
    for gold, candidates in dialogs:
        others = set(candidates) - {gold}  # equal replies are one card
        if not others:
            continue
        chance = 1 / (1 + len(others))
        chances.append(chance)
        for feature, strength in FEATURES.items():
            excesses[feature].append(_hit_probability(strength, gold, others) - chance)
    found = [_finding(feature, values, chances) for feature, values in excesses.items() if _is_notable(values)]
    return StyleReport(len(chances), sorted(found, key=lambda finding: finding.chance - finding.hit_rate))


def check_dataset_style(dataset: Dataset) -> StyleReport:
    """Checks up to MAX_DIALOGS dialogs of the dataset that have a gold and candidates, and notes what was found."""
    dialogs = (
        Dialog.objects.with_gold()
        .filter(dataset=dataset, candidates__isnull=False)
        .distinct()
        .order_by("context_key")  # as good as random, and the same each time
        .prefetch_related("candidates")[:MAX_DIALOGS]
    )
    report = check_style(
        (dialog.display_gold, [candidate.display_text for candidate in dialog.candidates.all()]) for dialog in dialogs
    )
    dataset.style_findings = report_as_json(report)
    dataset.style_checked_at = timezone.now()
    dataset.style_requested_at = None
    dataset.save(update_fields=["style_findings", "style_checked_at", "style_requested_at"])
    return report


def report_as_json(report: StyleReport) -> dict[str, Any]:
    return {
        "dialog_count": report.dialog_count,
        "findings": [asdict(finding) | {"text": str(finding)} for finding in report.findings],
    }


def _hit_probability(strength: Callable[[str], float], gold: str, others: Collection[str]) -> float:
    of_gold = strength(gold)
    of_others = [strength(text) for text in others]
    if max(of_others) > of_gold:
        return 0.0
    return 1 / (1 + of_others.count(of_gold))


def _is_notable(excesses: Sequence[float]) -> bool:
    count = len(excesses)
    if count < FEWEST_DIALOGS:
        return False
    mean = sum(excesses) / count
    variance = sum((value - mean) ** 2 for value in excesses) / (count - 1)
    return mean - 1.96 * math.sqrt(variance / count) > NOTABLE_EXCESS


def _finding(feature: str, excesses: Sequence[float], chances: Sequence[float]) -> Finding:
    chance = sum(chances) / len(chances)
    return Finding(feature, sum(excesses) / len(excesses) + chance, chance, len(excesses))
