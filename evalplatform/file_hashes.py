"""Computes the SHA-256 of a file, however large it is."""

import hashlib
from pathlib import Path


def hash_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
