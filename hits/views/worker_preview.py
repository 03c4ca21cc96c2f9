"""The worker's page as the researcher's pages show it: the same texts and cards, without the controls."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from generation.models import Candidate, Dialog
from hits.batching.card_orders import card_order
from hits.designing.markdown import render_markdown
from hits.models import Hit, HitItem
from hits.models.cards import Card
from hits.models.design import StudyDesign
from hits.protocols import protocol_of


@dataclass(frozen=True)
class PreviewTurn:
    speaker: int
    text: str


@dataclass(frozen=True)
class PreviewCard:
    text: str
    note: str = ""  # for the researcher's eyes only


@dataclass(frozen=True)
class PreviewItem:
    heading: str
    turns: list[PreviewTurn]
    cards: list[PreviewCard]
    is_checkpoint: bool
    dialog_id: int | None = None


@dataclass(frozen=True)
class PreviewTexts:
    question: str
    labels: Sequence[str]  # of the scale
    welcome: SafeString
    instructions: SafeString
    consent: SafeString
    contact: SafeString


def preview_texts(design: StudyDesign) -> PreviewTexts:
    task = design.task
    return PreviewTexts(
        task.question,
        protocol_of(design).scale.labels,
        render_markdown(task.welcome),
        render_markdown(task.instructions),
        render_markdown(task.consent),
        render_markdown(task.contact),
    )


def preview_warm_up(design: StudyDesign) -> PreviewItem:
    protocol = protocol_of(design)
    cards = [PreviewCard(reply.text, protocol.fitting_answer(reply)) for reply in design.warm_up.replies]
    return PreviewItem("Warm-up", preview_turns(design.warm_up.context), cards, is_checkpoint=False)


def preview_hit(hit: Hit, design: StudyDesign) -> list[PreviewItem]:
    """The items as the first worker of these dialogs will see them."""
    items = list(hit.items.select_related("dialog__dataset"))
    pks = [pk for item in items for card in item.cards for pk in card.candidates]
    candidates = Candidate.objects.select_related("generator").in_bulk(pks)
    return [_preview_item(item, len(items), design, candidates) for item in items]


def _preview_item(item: HitItem, item_count: int, design: StudyDesign, candidates: dict[int, Candidate]) -> PreviewItem:
    dialog = item.dialog
    cards = [preview_card(design, card, dialog, candidates) for card in item.cards]
    secret = bytes.fromhex(item.hit.study.order_secret)
    order = card_order(secret, dialog.dataset.name, dialog.external_id, len(cards), turn=0)
    return PreviewItem(
        heading=f"Conversation {item.position + 1}/{item_count}",
        turns=preview_turns(dialog.turns),
        cards=[cards[place] for place in order],
        is_checkpoint=item.is_checkpoint,
        dialog_id=dialog.pk,
    )


def preview_card(design: StudyDesign, card: Card, dialog: Dialog, candidates: dict[int, Candidate]) -> PreviewCard:
    found = [candidates[pk] for pk in card.candidates]
    names = [candidate.generator.name for candidate in found]
    text = found[0].display_text if found else dialog.display_gold
    return PreviewCard(design.shown(text), ", ".join([*names, "human reply"] if card.is_gold else names))


def preview_turns(texts: list[str]) -> list[PreviewTurn]:
    return [PreviewTurn(1 + position % 2, text) for position, text in enumerate(texts)]
