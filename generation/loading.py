"""Load generators into this process's memory, and unload the one used longest ago if memory runs out.

In: a Generator row. Out: its loaded network. Guaranteed: it is exactly the version that was registered; it is loaded
once and stays loaded while it and its settings are in use.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from generation.checkpoint_version import version_of
from generation.contexts import Answer, Context, Reply
from generation.devices import choose_device, describe_software, free_memory, is_out_of_memory
from generation.errors import CheckpointRefused
from generation.generators.kinds import AnswersEach, GeneratorKind
from generation.models import Generator
from generation.registry import check_generator, load_kind, own_settings
from generation.replaced_folders import read_steadily

MOST_LOADED = 4


@dataclass
class LoadedGenerator:
    kind: GeneratorKind
    batch_size: int
    forced_label: str
    software: dict[str, Any]
    settings: dict[str, Any]  # as they were stored

    def answer(self, contexts: Sequence[Context], seeds: Sequence[int]) -> list[Reply]:
        return self.kind.answer(contexts, seeds)

    def answer_each(self, questions: Iterator[tuple[Context, int]]) -> Iterator[tuple[int, Answer] | None]:
        """Answer questions one by one. Call this only if the kind has `answer_each`."""
        return cast(AnswersEach, self.kind).answer_each(questions, self.batch_size)

    def halve(self) -> bool:
        """Halve the batch size for good, because the next batch would need as much memory. Return False if it is 1."""
        self.batch_size, before = max(1, self.batch_size // 2), self.batch_size
        free_memory()
        return self.batch_size < before


class Loader:
    def __init__(self, device: str = "auto", threads: int = 0) -> None:
        self._device, self._threads = device, threads
        self._loaded: OrderedDict[str, LoadedGenerator] = OrderedDict()

    @property
    def versions(self) -> list[str]:
        return list(self._loaded)

    def get(self, generator: Generator) -> LoadedGenerator:
        if generator.version in self._loaded:
            self._follow_settings(generator)
        if generator.version not in self._loaded:
            while len(self._loaded) >= MOST_LOADED:
                self._drop_oldest()
            self._loaded[generator.version] = self._load_steadily(generator)
        self._loaded.move_to_end(generator.version)
        return self._loaded[generator.version]

    def _follow_settings(self, generator: Generator) -> None:
        """Take over changed settings. They can differ in speed only, or this would be another version. A new batch size
        needs no loading; for anything else, the generator is dropped and loaded again."""
        loaded = self._loaded[generator.version]
        if own_settings(loaded.settings) != own_settings(generator.settings):
            self._drop(generator.version)
        elif loaded.settings != generator.settings:
            settings = check_generator(generator.kind, generator.checkpoint, generator.settings)
            loaded.batch_size, loaded.settings = settings["batch_size"], generator.settings

    def _load_steadily(self, generator: Generator) -> LoadedGenerator:
        """Load one version, even if a training replaces the checkpoint meanwhile."""
        if not generator.checkpoint:
            return self._load(generator)
        return read_steadily(Path(generator.checkpoint), lambda: self._load(generator))

    def _load(self, generator: Generator) -> LoadedGenerator:
        kind = load_kind(generator.kind)
        settings = check_generator(generator.kind, generator.checkpoint, generator.settings)
        # Hash the settings as they were stored: a later release may know more of them.
        if version_of(generator.kind, generator.checkpoint, generator.settings) != generator.version:
            raise CheckpointRefused(
                f"The checkpoint of {generator} has changed since it was registered. Register it under another name."
            )
        device = choose_device(self._device, self._threads) if getattr(kind, "NEEDS_DEVICE", True) else "none"
        loaded = self._load_into_memory(kind, generator, own_settings(settings), device)
        return LoadedGenerator(
            loaded, settings["batch_size"], settings["forced_label"], describe_software(device), generator.settings
        )

    def _load_into_memory(
        self, kind: type[GeneratorKind], generator: Generator, settings: dict[str, Any], device: str
    ) -> GeneratorKind:
        while True:
            try:
                return kind.load(generator.checkpoint, settings, device)
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                if not self._loaded:
                    raise CheckpointRefused(f"{generator} does not fit into the memory of {device}.") from error
            self._drop_oldest()  # outside of the handler, whose traceback holds what was loaded so far

    def _drop_oldest(self) -> None:
        self._drop(next(iter(self._loaded)))

    def _drop(self, version: str) -> None:
        del self._loaded[version]
        free_memory()
