"""Register a generator, and refuse a name that stands for another version already.

In: the options of a command, or a small TOML file. Out: a Generator row. Guaranteed: kind, checkpoint and settings are
checked first; a name stands for the same version for ever, so that registering it again changes nothing.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalplatform.errors import EvalPlatformError
from generation.checkpoint_version import version_of
from generation.corpora.import_records import BadRecord, checked_name
from generation.models import Generator
from generation.registry import check_generator


@dataclass(frozen=True)
class Registration:
    name: str
    kind: str
    checkpoint: str = ""
    settings: dict[str, Any] = field(default_factory=dict)


def register_generator(registration: Registration) -> Generator:
    name = _check_name(registration.name)
    checkpoint = _resolve_folder(registration.checkpoint)
    settings = check_generator(registration.kind, checkpoint, registration.settings)
    version = version_of(registration.kind, checkpoint, settings)
    defaults = {"kind": registration.kind, "checkpoint": checkpoint, "settings": settings, "version": version}
    generator, is_new = Generator.objects.get_or_create(name=name, defaults=defaults)
    if not is_new and generator.version != version:
        raise EvalPlatformError(
            f"There is a model named {name!r} with another {_find_difference(generator, registration.kind, settings)}; "
            "a model never changes, so give this one a name of its own."
        )
    if not is_new and (generator.settings, generator.checkpoint) != (settings, checkpoint):
        # The same content was moved to another folder, or only settings about speed differ.
        generator.settings, generator.checkpoint = settings, checkpoint
        generator.save(update_fields=["settings", "checkpoint"])
    return generator


def read_registration(path: Path) -> Registration:
    """Read a generator from a TOML file. A relative checkpoint folder is looked up from the file's own folder."""
    try:
        values = tomllib.loads(path.read_text())
    except OSError as error:
        raise EvalPlatformError(f"{path} can't be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EvalPlatformError(f"{path} is not TOML: {error}.") from None
    if unknown := values.keys() - {"name", "kind", "checkpoint", "settings"}:
        raise EvalPlatformError(f"{path}: {min(unknown)!r} is unknown; a model has name, kind, checkpoint, [settings].")
    texts = {name: values.get(name, "") for name in ("name", "kind", "checkpoint")}
    settings = values.get("settings", {})
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(settings, dict):
        raise EvalPlatformError(f"{path}: name, kind and checkpoint are texts, and settings is a table.")
    if texts["checkpoint"] and (path.parent / texts["checkpoint"]).is_dir():
        texts["checkpoint"] = str(path.parent / texts["checkpoint"])
    return Registration(**texts, settings=settings)


def parse_setting(text: str) -> tuple[str, Any]:
    """Read `beams=4` or `system="Be kind."`: the value is TOML or, failing that, plain text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise EvalPlatformError(f"{text!r} is not a setting: write NAME=VALUE.")
    try:
        return name.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name.strip(), value.strip()


def _check_name(name: str) -> str:
    try:
        return checked_name(name, "The model's name")
    except BadRecord as bad:
        raise EvalPlatformError(f"{bad}.") from None


def _resolve_folder(checkpoint: str) -> str:
    """Store a folder by its full path: background processes may run in another folder than this command."""
    return str(Path(checkpoint).resolve()) if checkpoint and Path(checkpoint).is_dir() else checkpoint


def _find_difference(stored: Generator, kind: str, settings: dict[str, Any]) -> str:
    if stored.kind != kind:
        return f"kind ({stored.kind})"
    for name, value in settings.items():
        if stored.settings.get(name) != value:
            return f"{name} ({stored.settings.get(name)!r})"
    return "checkpoint"
