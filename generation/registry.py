"""List the kinds of generators, and check the settings that all kinds have.

A kind's module is imported when it is first asked for, and torch when it loads.
"""

from importlib import import_module
from typing import Any

from evalplatform.errors import EvalPlatformError
from generation.errors import SettingsRefused
from generation.generators.kinds import CommonSettings, GeneratorKind, checked_settings
from generation.networks.families import FAMILIES, generating_families

KINDS = {
    **dict.fromkeys(generating_families(), "generation.generators.own_networks:NetworkGenerator"),
    "hf-seq2seq": "generation.generators.hugging_face:Seq2SeqGenerator",
    "hf-causal": "generation.generators.hugging_face:CausalGenerator",
    "openai-compatible": "generation.generators.openai_compatible:OpenAICompatibleGenerator",
    "reference": "generation.generators.reference:ReferenceGenerator",
}


class UnknownKind(EvalPlatformError):
    pass


def known_kinds() -> list[str]:
    return list(KINDS)


def load_kind(name: str) -> type[GeneratorKind]:
    if name not in KINDS:
        raise UnknownKind(f"There is no kind of generator named {name!r}; the kinds are {', '.join(KINDS)}.")
    module, _, class_name = KINDS[name].partition(":")
    kind: Any = getattr(import_module(module), class_name)
    found: type[GeneratorKind] = kind.of_family(name) if name in FAMILIES else kind
    return found


def check_generator(kind_name: str, checkpoint: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the common settings and the kind's own, all with their defaults."""
    kind = load_kind(kind_name)
    obeyed: tuple[str, ...] = getattr(kind, "OBEYED_LABELS", ())
    common = checked_settings(CommonSettings, {name: settings[name] for name in settings if name in _COMMON})
    if common["forced_label"] and not obeyed:
        raise SettingsRefused(f"The kind {kind_name} can't be told which label to answer with (forced_label).")
    if common["forced_label"] and common["forced_label"] not in obeyed:
        raise SettingsRefused(
            f"No reply can have the label {common['forced_label']!r}; it is not one of the {len(obeyed)} labels."
        )
    return {**common, **kind.check(checkpoint, own_settings(settings))}


def own_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the kind itself."""
    return {name: value for name, value in settings.items() if name not in _COMMON}


_COMMON = CommonSettings.model_fields.keys()
