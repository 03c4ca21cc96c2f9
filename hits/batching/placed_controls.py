"""Places a block's controls: which items come again, where, and which answer an attention check tells.

What comes in: the items that a block's dialogs make. What goes out: all items of the HIT in their order. What is
guaranteed: everything follows from the design's seed; no control stands beside the item that it shows again, and none
shows a checkpoint, whose human reply the page may have told; the checks of one HIT tell different answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from generation.models import Dialog
from hits.designing import order_key
from hits.errors import DesignProblem, InvalidStudy
from hits.models.cards import Card
from hits.protocols import Protocol, words_told


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item before it is stored. The fields below `is_checkpoint` are those of a control."""

    dialog: Dialog
    cards: tuple[Card, ...]
    is_checkpoint: bool
    repeats: int | None = None
    told: int | None = None
    told_words: str = ""

    def stored(self) -> dict[str, Any]:
        """Return the fields of a HitItem, beside its HIT and its position."""
        return {name: getattr(self, name) for name in self.__slots__}


def add_controls(protocol: Protocol[Any], items: Sequence[NewItem]) -> list[NewItem]:
    """Return the items with the controls among them. Items of the first half are shown again in the second one, as far
    as there are enough that are no checkpoints."""
    rules = protocol.design.checkpoints
    if not rules.controls:
        return list(items)
    chosen = _items_to_show_again(protocol, items)
    inserted: dict[int, list[NewItem]] = {}
    for number, place in enumerate(chosen):
        control = replace(items[place], repeats=place)
        if number < rules.attention_checks:
            control = _with_told_answer(protocol, control, chosen[0], number, items)
        inserted.setdefault(_place_before(protocol, items, place), []).append(control)
    in_order: list[NewItem] = []
    position_of: list[int] = []
    for place, item in enumerate(items):
        position_of.append(len(in_order))
        in_order += [item, *inserted.get(place, [])]
    return [item if item.repeats is None else replace(item, repeats=position_of[item.repeats]) for item in in_order]


def _items_to_show_again(protocol: Protocol[Any], items: Sequence[NewItem]) -> list[int]:
    """Draw places of items in which there is something to answer. The last item can't come again: nothing follows."""
    possible = [
        place
        for place, item in enumerate(items[:-1])
        if not item.is_checkpoint and protocol.missing(None, len(item.cards))
    ]
    chosen = sorted(possible, key=lambda place: (place >= len(items) // 2, _draw(protocol, "again", items[place])))
    wanted = protocol.design.checkpoints.controls
    if len(chosen) < wanted:
        message = (
            f"a HIT of {len(items)} dialogs has only {len(chosen)} that can come again (neither a checkpoint nor the "
            f"last, and with different replies), and {wanted} are asked for; lower it, or have more dialogs in a HIT"
        )
        raise InvalidStudy([DesignProblem(protocol.design.checkpoints.control_setting, message)])
    return chosen[:wanted]


def _place_before(protocol: Protocol[Any], items: Sequence[NewItem], place: int) -> int:
    """Draw the item after which this one comes again: in the second half, and with another one between."""
    first = max(place + 1, len(items) // 2)
    return first + int.from_bytes(_draw(protocol, "comes after", items[place])) % (len(items) - first)


def _with_told_answer(
    protocol: Protocol[Any], control: NewItem, first: int, number: int, items: Sequence[NewItem]
) -> NewItem:
    """Draw an answer for the HIT's first attention check; each further check tells the next one."""
    answers = len(protocol.told_answers(len(control.cards)))
    told = (int.from_bytes(_draw(protocol, "told", items[first])) + number) % answers
    return replace(control, told=told, told_words=words_told(protocol, len(control.cards), told))


def _draw(protocol: Protocol[Any], what: str, item: NewItem) -> bytes:
    return order_key(protocol.design.seed, what, item.dialog.dataset.name, item.dialog.external_id)
