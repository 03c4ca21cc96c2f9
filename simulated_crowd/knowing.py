"""Find out who wrote the cards of a HIT. The page hides this from workers, but a crowd with a known truth needs it."""

from dataclasses import dataclass

from hits.batching import candidates_of
from hits.models import HitItem
from hits.models.design import StudyDesign
from simulated_crowd.truths import HUMAN


@dataclass(frozen=True)
class KnownDialog:
    """A dialog and the `writers` (generators, or HUMAN) of each card, by the card's text, which is unique in a
    dialog. A control shows a dialog again, and an attention check tells which answer to give."""

    dataset: str
    external_id: str
    writers: dict[str, tuple[str, ...]]
    is_again: bool = False
    told: int | None = None

    @property
    def showing(self) -> tuple[str, ...]:
        """Return what tells the chances of a second look from those of the first."""
        return ("again",) if self.is_again else ()


def known_dialogs(design: StudyDesign, hit_pk: int) -> list[KnownDialog]:
    items = list(HitItem.objects.filter(hit=hit_pk).select_related("dialog__dataset").order_by("position"))
    candidates = candidates_of(items)
    known = []
    for item in items:
        writers = {}
        for card in item.cards:
            of_card = [candidates[pk] for pk in card.candidates]
            text = of_card[0].display_text if of_card else item.dialog.display_gold
            names = [candidate.generator.name for candidate in of_card] + [HUMAN] * card.is_gold
            writers[design.shown(text)] = tuple(sorted(names))
        name = (item.dialog.dataset.name, item.dialog.external_id)
        known.append(KnownDialog(*name, writers, item.repeats is not None, item.told))
    return known
