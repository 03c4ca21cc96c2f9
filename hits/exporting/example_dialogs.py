"""Writes an appendix with example dialogs, their replies and their ratings, in LaTeX (examples.tex).

In: a study and its ratings. Out: the dialogs with the most, the middle and the least disagreement. It is written only
if somebody asks for it, because many corpora may not be passed on.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from generation.models import Generator
from hits.exporting.latex import escape
from hits.models import HitItem, Study
from hits.models.cards import Card
from hits.screening import kept_mask
from hits.serving import frozen_hit

FILE = "examples.tex"
RULE = (
    "The dialogs are those with the highest, the median and the lowest disagreement among all dialogs whose replies "
    "have at least two ratings that count. Disagreement is the share of pairs of ratings of the same reply that "
    "differ, averaged over the dialog's replies; of equals, the first by dataset and id was taken."
)
EACH_SHOWING = "A dialog that was shown with several pairs of replies counts once for each."
ITEM = ["dataset", "external_id", "block"]  # a dialog stands in several blocks if each shows other replies
USED = ["assignment", *ITEM, "card", "value"]
NAMES = ("highest", "median", "lowest")
Key = tuple[str, str, int]


def example_dialogs(study: Study, frame: pd.DataFrame, warning: str) -> str:
    """Return the appendix. `frame` is a bundle's own, with every rating."""
    main = str(frame["criterion"].astype("category").cat.categories[0])
    kept = frame[USED][kept_mask(frame) & (frame["criterion"] == main).to_numpy()]
    chosen = choose_dialogs(kept)
    lines = [*([f"% {warning}", rf"\textbf{{{escape(warning)}.}}", ""] if warning else [])]
    is_met_again = kept[ITEM].drop_duplicates().duplicated(ITEM[:2]).any()
    lines += [r"\section{Example dialogs}", escape(f"{RULE} {EACH_SHOWING}" if is_met_again else RULE), ""]
    for name, (key, disagreement) in chosen.items():
        lines += _dialog(study, key, kept, f"{name.capitalize()} disagreement ({disagreement:.2f})")
    return "\n".join(lines) + "\n"


def choose_dialogs(kept: pd.DataFrame) -> dict[str, tuple[Key, float]]:
    """Return the dialog and its disagreement by what it was chosen for. One dialog may be chosen for several."""
    cards = kept.drop_duplicates(["assignment", *ITEM, "card"])
    keys = [*ITEM, "card"]
    counts = cards.groupby([*keys, "value"], observed=True).size()
    total = counts.groupby(level=keys, observed=True).sum()
    alike = (counts * (counts - 1)).groupby(level=keys, observed=True).sum()
    several = total[total > 1]
    if several.empty:
        return {}
    apart = 1 - alike.loc[several.index] / (several * (several - 1))
    by_item = apart.groupby(level=ITEM, observed=True).mean()
    names = by_item.index.to_frame().itertuples(index=False)
    ranked = sorted(
        (-float(value), (str(dataset), str(external_id), int(block)))
        for (dataset, external_id, block), value in zip(names, by_item, strict=True)
    )
    places = dict(zip(NAMES, (0, len(ranked) // 2, len(ranked) - 1), strict=True))
    return {name: (ranked[place][1], -ranked[place][0]) for name, place in places.items()}


def _dialog(study: Study, key: Key, kept: pd.DataFrame, title: str) -> Iterator[str]:
    dataset, external_id, block = key
    of_dialog = HitItem.objects.filter(dialog__dataset__name=dataset, dialog__external_id=external_id)
    items = of_dialog.filter(hit__study=study, hit__block=block, repeats=None)
    row = items.select_related("hit").order_by("hit__number").first()
    if row is None:
        return
    item = next(one for one in frozen_hit(study.key, row.hit.number).items if one.pk == row.pk)
    yield rf"\subsection*{{{escape(f'{title}: {dataset}, {external_id}')}}}"
    yield r"\begin{description}"
    for number, turn in enumerate(item.turns):
        yield rf"\item[{'AB'[number % 2]}:] {escape(turn)}"
    yield r"\end{description}"
    yield r"\begin{itemize}"
    is_here = (kept["dataset"] == dataset) & (kept["external_id"] == external_id) & (kept["block"] == block)
    rated = kept[is_here.to_numpy()]
    rated = rated.drop_duplicates(["assignment", "card"])
    for card, text in enumerate(item.texts):
        values = rated.loc[rated["card"] == card, "value"].value_counts(sort=False)
        told = ", ".join(f"{value} {count}" for value, count in values.items() if count) or "no rating that counts"
        writers = escape(", ".join(_writers(item.cards[card])))
        yield rf"\item \textbf{{{writers}}}: {escape(text)} \emph{{({escape(told)})}}"
    yield r"\end{itemize}"
    yield ""


def _writers(card: Card) -> Sequence[str]:
    found = Generator.objects.filter(candidates__in=card.candidates).order_by("name").values_list("name", flat=True)
    return [*dict.fromkeys(found), *(["human reply"] if card.is_gold else [])]
