"""Reads who said what of the cards of some dialogs, for the page that lists dialogs.

In: the dialogs' items. Out: by dialog and card, each value that was given, best first, and who gave it. Guaranteed:
what was said of a card stands at that card, whichever HIT showed it and at whichever number; a comparison stands at
both of its cards, and at each as seen from there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generation.models import Candidate
from hits.access import pseudonym
from hits.models import HitItem, Offering, Rating, ScreeningRun
from hits.models.cards import Card
from hits.protocols import Criterion
from hits.screening import first_rules, rule_in_words
from hits.views.card_writers import writers_of


@dataclass(frozen=True)
class Said:
    """Who said it; `left_out` names the screening rule against that work."""

    worker: str
    assignment_pk: int
    left_out: str


Sayings = list[tuple[str, list[Said]]]


def card_sayings(
    offering: Offering,
    by_dialog: Mapping[int, Sequence[HitItem]],
    candidates: dict[int, Candidate],
    criterion: Criterion,
    with_left_out: bool,
) -> dict[tuple[int, Card], Sayings]:
    """Return who said what. A card that stands for several models has several ratings, but was judged once, so that an
    assignment counts once."""
    items = {item.pk: item for several in by_dialog.values() for item in several}
    run = ScreeningRun.objects.current(offering)
    ratings = Rating.objects.confirmed(offering).filter(item__dialog__in=list(by_dialog), criterion=criterion.name)
    wanted = ratings if with_left_out else ratings.kept(run)
    columns = ("item", "card", "value", "opponent", "submission")
    rows = list(
        wanted.order_by("pk").values_list(*columns, "submission__assignment", "submission__assignment__crowd_worker_id")
    )
    rules = first_rules(run, {row[4]: row[6] for row in rows}) if with_left_out else {}
    names = {worker: pseudonym(offering.study, worker) for worker in {row[6] for row in rows}}
    found: dict[tuple[int, Card], dict[tuple[int, str], dict[int, Said]]] = {}
    for item_key, number, value, opponent, submission, assignment, worker in rows:
        item = items[item_key]
        said = Said(names[worker], assignment, rule_in_words(rules.get(submission, "")))
        for card, seen, against in _from_each_side(item, item.cards[number], value, opponent, criterion):
            label = criterion.scale.label(seen) + (f", against {writers_of(against, candidates)}" if against else "")
            of_value = found.setdefault((item.dialog_id, card), {})
            of_value.setdefault((criterion.scale.values.index(seen), label), {})[assignment] = said
    return {
        card: [(label, list(said.values())) for (_, label), said in sorted(values.items(), key=lambda one: one[0])]
        for card, values in found.items()
    }


def _from_each_side(
    item: HitItem, card: Card, value: str, opponent: int | None, criterion: Criterion
) -> Iterator[tuple[Card, str, Card | None]]:
    """Yield the card, what was said of it, and the card that it was compared with, if any."""
    if opponent is None:
        yield card, value, None
        return
    other = next(one for one in item.cards if opponent in one.candidates)
    yield card, value, other
    yield other, criterion.scale.mirrored(value), card
