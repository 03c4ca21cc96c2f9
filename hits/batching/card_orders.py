"""Computes the order of the cards on a worker's page, from a secret that is drawn when the study is frozen.

What comes in: the study's secret, a dialog's name, the worker's rotation. What goes out: which card stands at which
place. What is guaranteed: the same input gives the same order on any machine; without the secret, nobody learns
anything about one dialog's order from all the others. The manifest contains a commitment to the secret, so that anyone
can check a bundle that reveals it.
"""

import hashlib
import hmac
import secrets

SECRET_BYTES = 16
# Hashed together with the secret, so that the commitment reveals nothing about other uses of the secret.
COMMITMENT_PURPOSE = b"evalplatform: secret of card orders\n"


def draw_secret() -> bytes:
    """Draw a new secret at random."""
    return secrets.token_bytes(SECRET_BYTES)


def commitment_to(secret: bytes) -> str:
    """Return a hash that commits to the secret without revealing it."""
    return hashlib.sha256(COMMITMENT_PURPOSE + secret).hexdigest()


def secret_number(secret: bytes, *parts: object) -> int:
    """Return a number below 2**128 that the secret and the parts determine. Without the secret, it looks random."""
    message = "\x1f".join(map(str, parts)).encode()  # the separator tells ("a", "bc") from ("ab", "c")
    return int.from_bytes(hmac.digest(secret, message, "sha256")[:16])


def shuffle_cards(secret: bytes, dataset: str, external_id: str, card_count: int) -> list[int]:
    """Return the cards of a dialog in the order that the first rotation shows."""
    return sorted(range(card_count), key=lambda card: secret_number(secret, "card", dataset, external_id, card))


def rotate_cards(shuffled: list[int], rotation: int) -> list[int]:
    """Move every card by so many places. Over as many rotations as there are cards, each card stands at each place
    once."""
    start = rotation % len(shuffled)
    return shuffled[start:] + shuffled[:start]


def card_order(secret: bytes, dataset: str, external_id: str, card_count: int, rotation: int) -> list[int]:
    """Return the card at each place, for the worker who has this rotation."""
    return rotate_cards(shuffle_cards(secret, dataset, external_id, card_count), rotation)
