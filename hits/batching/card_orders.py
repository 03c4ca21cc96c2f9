"""The order of the cards on a worker's page, from a secret that each study draws when it is frozen.

In: the study's secret, a dialog's name, the worker's rotation. Out: which card stands at which place. Guaranteed: the
same in, the same out, on any machine; who does not have the secret learns nothing of one dialog's order from all
others. The manifest carries a commitment to the secret, so that a bundle which reveals it can be checked by anyone.
"""

import hashlib
import hmac
import secrets

SECRET_BYTES = 16
# A purpose of its own, so that this hash of the secret says nothing about any other use of it.
COMMITMENT_PURPOSE = b"evalplatform: secret of card orders\n"


def draw_secret() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)


def commitment_to(secret: bytes) -> str:
    return hashlib.sha256(COMMITMENT_PURPOSE + secret).hexdigest()


def secret_number(secret: bytes, *parts: object) -> int:
    """A number below 2**128 that the parts determine, for who has the secret; for all others, drawn at random."""
    message = "\x1f".join(map(str, parts)).encode()  # the separator keeps ("a", "bc") from ("ab", "c")
    return int.from_bytes(hmac.digest(secret, message, "sha256")[:16])


def shuffle_cards(secret: bytes, dataset: str, external_id: str, card_count: int) -> list[int]:
    return sorted(range(card_count), key=lambda card: secret_number(secret, "card", dataset, external_id, card))


def rotate_cards(shuffled: list[int], rotation: int) -> list[int]:
    """Move every card by so many places: over as many rotations as there are cards, each card stands at each place
    once."""
    start = rotation % len(shuffled)
    return shuffled[start:] + shuffled[:start]


def card_order(secret: bytes, dataset: str, external_id: str, card_count: int, rotation: int) -> list[int]:
    """The card at each place, for the worker who has this rotation."""
    return rotate_cards(shuffle_cards(secret, dataset, external_id, card_count), rotation)
