"""The one list of generator kinds. A kind's module is imported when it is first asked for, and torch when it loads."""

from importlib import import_module

from evalplatform.errors import EvalPlatformError
from generation.generators.base import GeneratorKind

KINDS = {
    "transformer": "generation.generators.own_networks:TransformerGenerator",
    "meed2": "generation.generators.own_networks:Meed2Generator",
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
    kind: type[GeneratorKind] = getattr(import_module(module), class_name)
    return kind
