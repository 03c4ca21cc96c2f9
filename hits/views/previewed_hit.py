"""Shows a HIT as its first worker will see it, and who wrote each reply."""

from dataclasses import dataclass

from hits.models import Hit, HitItem
from hits.serving import frozen_hit
from hits.views.card_writers import WrittenReply, candidates_of, written_replies
from hits.views.shown_pages import frames_of_hit


@dataclass(frozen=True)
class PreviewedItem:
    item: HitItem
    frame: str  # the worker's page
    replies: list[WrittenReply]  # as they stand on it

    @property
    def number(self) -> int:
        return self.item.position + 1

    @property
    def title(self) -> str:
        """The frame's title."""
        return f"Dialog {self.number} on the worker's page"


def previewed_items(hit: Hit) -> list[PreviewedItem]:
    items = list(hit.items.select_related("dialog__dataset"))
    candidates = candidates_of(items)
    frozen = frozen_hit(hit.study.key, hit.number)
    orders = [item.order(0) for item in frozen.items]
    return [
        PreviewedItem(item, frame, written_replies(item.cards, order, candidates, {}))
        for item, order, frame in zip(items, orders, frames_of_hit(frozen), strict=True)
    ]
