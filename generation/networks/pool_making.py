"""Make the pool of a retrieval network from dialogs, while it is trained or later."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from generation.corpora.import_records import DialogRecord
from generation.errors import CheckpointRefused
from generation.networks.checkpoint import load_checkpoint, save_checkpoint
from generation.networks.reply_pool import POOL_FILE, Named, Pool, make_pool
from generation.networks.retrieval_texts import RetrievalConfig
from generation.networks.retriever import POOL, texts_of
from generation.training.context_pairs import Source


def replace_pool(checkpoint: Path, source: Source, working: Path) -> Pool:
    """Put a pool of this data into a checkpoint. `working` is a folder for files that are not needed afterwards."""
    loaded = load_checkpoint(checkpoint)
    if not isinstance(loaded.config, RetrievalConfig):
        raise CheckpointRefused(f"{checkpoint} is a {loaded.config.kind}, which chooses no replies.")
    dialogs = named_dialogs(source, source.records())
    pool = make_pool(dialogs, texts_of(loaded).count_known, working / POOL_FILE)
    save_checkpoint(checkpoint, loaded.network, loaded.tokenizer, {POOL: pool})
    return pool


def named_dialogs(source: Source, records: Iterable[DialogRecord]) -> Iterator[Named]:
    """Yield each record with the dataset or file that it is from."""
    return ((source.reading, record) for record in records)
