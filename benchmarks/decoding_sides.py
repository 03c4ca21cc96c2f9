"""Make networks, and answer with one of three libraries. benchmarks/decoding.py runs this in processes of its own.

python -m benchmarks.decoding_sides make FOLDER --ends 0
python -m benchmarks.decoding_sides {ours,hugging-face,ctranslate2} FOLDER --batch 8 --contexts 16 --tokens 32

A side prints one line of JSON: its replies, the seconds that they took after loading and warming up, and its peak
memory.
"""

import argparse
import json
import random
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BEAMS = 32
NO_REPEAT = 4
CONTEXTS, MOST_CONTEXTS = "contexts.json", 64
Contexts = list[list[int]]
Answer = Callable[[Contexts, int], list[list[int]]]  # contexts and the most tokens -> replies


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["make", *SIDES])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ends", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path)
    parser.add_argument("--dialogs", type=Path)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--contexts", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--lengths", type=int, nargs=2, default=[60, 60])
    parser.add_argument("--sorted", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.what == "make":
        make_networks(options.folder, bool(options.ends), options.checkpoint)
        if options.dialogs:
            write_contexts(options.folder, options.checkpoint, options.dialogs)
        return
    answer = SIDES[options.what](options.folder, options.threads)
    contexts = read_contexts(options.folder) or make_contexts(
        MOST_CONTEXTS, options.lengths, _vocabulary_size(options.folder)
    )
    contexts = contexts[: options.contexts]
    print(json.dumps(measure(answer, contexts, options.batch, options.tokens, options.sorted)))


def measure(answer: Answer, contexts: Contexts, batch: int, tokens: int, is_sorted: bool) -> dict[str, Any]:
    answer(contexts[:batch], 2)
    before = _peak_mb()
    order = sorted(range(len(contexts)), key=lambda place: len(contexts[place])) if is_sorted else range(len(contexts))
    started, cpu_before = time.perf_counter(), time.process_time()
    replies: dict[int, list[int]] = {}
    for places in _batches(list(order), batch):
        said = answer([contexts[place] for place in places], tokens)
        replies |= dict(zip(places, said, strict=True))
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "cpu_seconds": time.process_time() - cpu_before,
        "replies": [replies[place] for place in range(len(contexts))],
        "peak_mb": _peak_mb(),
        "loaded_mb": before,
    }


def _batches(places: list[int], size: int) -> Iterator[list[int]]:
    return (places[start : start + size] for start in range(0, len(places), size))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def make_contexts(count: int, lengths: tuple[int, int], vocabulary_size: int) -> Contexts:
    rng = random.Random(7)
    return [
        [0, *(rng.randrange(4, vocabulary_size) for _ in range(rng.randint(*lengths) - 2)), 2] for _ in range(count)
    ]


def write_contexts(folder: Path, checkpoint: Path, dialogs: Path) -> None:
    """Write the contexts of real dialogs as the checkpoint's tokens, in random order."""
    from generation.networks.tokenizing import encode_context, load_tokenizer

    tokenizer, longest = load_tokenizer(checkpoint), json.loads((folder / "config.json").read_text())["max_tokens"]
    turns = [json.loads(line)["context"] for line in dialogs.read_text().splitlines()]
    chosen = random.Random(7).sample(turns, min(MOST_CONTEXTS, len(turns)))
    contexts = [encode_context(tokenizer, one, [], longest).ids for one in chosen]
    (folder / CONTEXTS).write_text(json.dumps(contexts))


def read_contexts(folder: Path) -> Contexts:
    path = folder / CONTEXTS
    contexts: Contexts = json.loads(path.read_text()) if path.exists() else []
    return contexts


def make_networks(folder: Path, ends: bool, checkpoint: Path | None) -> None:
    """Write the same weights in three formats. Without a checkpoint they are random, of MEED2's size (25.5 M
    parameters) with the output tied to the words as in BART, and replies never end, or end at random."""
    import torch
    from safetensors.torch import save_file

    from generation.networks.checkpoint import load_checkpoint
    from generation.networks.network_config import NetworkConfig
    from generation.networks.transformer import Transformer
    from tests.networks.bart import as_bart

    torch.manual_seed(1)
    if checkpoint is not None:
        network = load_checkpoint(checkpoint).network
    else:
        network = Transformer(NetworkConfig("transformer", 50_265, max_tokens=512))
        _tie(network)
        with torch.no_grad():
            _spread(network, ends)
    folder.mkdir(parents=True, exist_ok=True)
    bart = as_bart(network, is_tied=checkpoint is None)
    bart.save_pretrained(folder / "hugging-face")
    _save_for_ctranslate2(bart, folder / "ctranslate2")
    weights = {name: tensor.detach() for name, tensor in network.state_dict().items()}
    if checkpoint is None:
        del weights["output.weight"]
    save_file(weights, folder / "ours.safetensors")
    (folder / "config.json").write_text(json.dumps(network.config.as_json([])))


def _tie(network: Any) -> None:
    network.output.weight = network.embedder.words.weight


def _spread(network: Any, ends: bool) -> None:
    """Spread the weights ten times as far. With initial weights all replies are alike; like this they depend on the
    context, and some end early, some late."""
    for parameter in network.parameters():
        if ends and parameter.dim() > 1:
            parameter.mul_(10)
    network.output.bias[2] = 12 if ends else -10_000


def _save_for_ctranslate2(bart: Any, folder: Path) -> None:
    from ctranslate2.converters.transformers import BartLoader

    bart.config.normalize_before = False  # CTranslate2 needs it, and transformers 5 no longer sets it
    loader = BartLoader()
    spec = loader.get_model_spec(bart)
    loader.set_vocabulary(spec, ["<s>", "<pad>", "</s>", "<unk>", *map(str, range(4, bart.config.vocab_size))])
    spec.config.bos_token = spec.config.decoder_start_token = "<s>"
    spec.config.eos_token, spec.config.unk_token = "</s>", "<unk>"
    spec.validate()
    spec.optimize(quantization="float32")
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))


def _vocabulary_size(folder: Path) -> int:
    size: int = json.loads((folder / "config.json").read_text())["vocabulary_size"]
    return size


def _read_ours(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    weights = load_file(folder / "ours.safetensors")
    return {"output.weight": weights["embedder.words.weight"], **weights}  # if the network is tied, both are the same


def load_ours(folder: Path, threads: int) -> Answer:
    import torch

    from generation.decoding.beam import beam_search
    from generation.decoding.decoding_settings import DecodingSettings
    from generation.decoding.projection import Projection, pack_output
    from generation.networks.batches import stack
    from generation.networks.network_config import NetworkConfig
    from generation.networks.transformer import Transformer, TransformerDecoder
    from generation.networks.unfilled import build_unfilled

    torch.set_num_threads(threads)
    config = NetworkConfig.from_json(json.loads((folder / "config.json").read_text()))
    network = build_unfilled(lambda: Transformer(config)).eval()
    network.load_state_dict(_read_ours(folder), assign=True)
    projection = Projection(pack_output(network.output, _read_ours(folder)["output.weight"]))
    del network.output

    def answer(contexts: Contexts, tokens: int) -> list[list[int]]:
        ids = stack(contexts, 1)
        settings = DecodingSettings(beams=BEAMS, no_repeat_ngram=NO_REPEAT, max_tokens=tokens)
        with torch.inference_mode():
            state = network.begin_replies(ids, torch.zeros_like(ids), torch.zeros(len(contexts), dtype=torch.long))
            return [found[0].tokens for found in beam_search(TransformerDecoder(network, projection, state), settings)]

    return answer


def load_hugging_face(folder: Path, threads: int) -> Answer:
    import torch
    from transformers import BartForConditionalGeneration

    from generation.networks.batches import stack

    torch.set_num_threads(threads)
    bart = BartForConditionalGeneration.from_pretrained(folder / "hugging-face").eval()

    def answer(contexts: Contexts, tokens: int) -> list[list[int]]:
        ids = stack(contexts, 1)
        said = bart.generate(
            input_ids=ids,
            attention_mask=(ids != 1).long(),
            num_beams=BEAMS,
            no_repeat_ngram_size=NO_REPEAT,
            length_penalty=1.0,
            early_stopping=False,
            do_sample=False,
            max_new_tokens=tokens,
        )
        return [_up_to_the_end(row) for row in said[:, 1:].tolist()]

    return answer


def _up_to_the_end(tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(2) + 1] if 2 in tokens else [token for token in tokens if token != 1]


def load_ctranslate2(folder: Path, threads: int) -> Answer:
    import ctranslate2

    translator = ctranslate2.Translator(
        str(folder / "ctranslate2"), compute_type="float32", inter_threads=1, intra_threads=threads
    )
    names = ["<s>", "<pad>", "</s>", "<unk>", *map(str, range(4, _vocabulary_size(folder)))]
    numbers = {name: number for number, name in enumerate(names)}

    def answer(contexts: Contexts, tokens: int) -> list[list[int]]:
        found = translator.translate_batch(
            [[names[token] for token in context] for context in contexts],
            beam_size=BEAMS,
            no_repeat_ngram_size=NO_REPEAT,
            length_penalty=1.0,
            max_decoding_length=tokens,
            max_input_length=0,
        )
        return [[numbers[token] for token in result.hypotheses[0]] for result in found]

    return answer


SIDES: dict[str, Callable[[Path, int], Answer]] = {
    "ours": load_ours,
    "hugging-face": load_hugging_face,
    "ctranslate2": load_ctranslate2,
}


if __name__ == "__main__":
    main()
