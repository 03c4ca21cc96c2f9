"""Measure decoding of TRS and MoEL beside a plain loop of the same network in torch: tokens a second and memory.

python -m benchmarks.empathy_decoding [--kinds trs moel] [--contexts 16] [--tokens 30]

The networks are random, of the papers' sizes with 20,000 words; beam 5, replies of exactly 30 words, contexts of 40
words unless said otherwise. The plain loop answers one dialog at a time, and reads all that was said anew for each
word, as the published code does; all its beams are one batch. Each side answers in a process of its own. Both must
find the same replies. Then ours is measured against the batch and against the length of the contexts.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORDS, BEAMS = 20_000, 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=["trs", "moel"])
    parser.add_argument("--contexts", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--side", choices=["ours", "plain"], help="measure one side, and print JSON")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=40)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(_measure(options)))
        return
    print(f"beam {BEAMS}, {WORDS:,} words, replies of {options.tokens}, {options.threads} threads, fp32")
    for kind in options.kinds:
        _compare(kind, options)


def _compare(kind: str, options: argparse.Namespace) -> None:
    plain = _run(kind, "plain", options, batch=1)
    print(f"\n{kind}, {options.contexts} contexts of {options.length} words")
    print(f"{'':>20} {'tokens/s':>9} {'peak MB':>8} {'MB above loading':>17} {'same replies':>13}")
    _print_row("plain loop", plain, plain)
    for batch in (1, 4, 16):
        _print_row(f"ours, batch {batch}", _run(kind, "ours", options, batch=batch), plain)
    print(f"{kind}, ours in batches of 8, against the length of the contexts")
    for length in (20, 40, 80, 160):
        row = _run(kind, "ours", options, batch=8, length=length)
        _print_row(f"{length} words", row, row)


def _print_row(title: str, row: dict[str, Any], plain: dict[str, Any]) -> None:
    same = sum(one == other for one, other in zip(row["replies"], plain["replies"], strict=True))
    above = row["peak_mb"] - row["loaded_mb"]
    told = f"{same} of {len(row['replies'])}"
    print(f"{title:>20} {row['tokens_a_second']:>9.0f} {row['peak_mb']:>8.0f} {above:>17.0f} {told:>13}", flush=True)


def _run(kind: str, side: str, options: argparse.Namespace, batch: int, length: int | None = None) -> dict[str, Any]:
    values = {
        "kinds": kind, "side": side, "contexts": options.contexts, "tokens": options.tokens,
        "threads": options.threads, "batch": batch, "length": length or options.length,
    }  # fmt: skip
    arguments = [f"--{name}={value}" for name, value in values.items()]
    command = [sys.executable, "-m", "benchmarks.empathy_decoding", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    from generation.contexts import Context

    torch.set_num_threads(options.threads)
    checkpoint = _make_checkpoint(options.kinds[0])
    draw = torch.Generator().manual_seed(7)
    spoken = torch.randint(0, WORDS - 10, (options.contexts, options.length), generator=draw).tolist()
    contexts = [Context((" ".join(f"w{word}" for word in words),)) for words in spoken]
    answer = _load_ours(options, checkpoint) if options.side == "ours" else _load_plain(options, checkpoint)
    answer(contexts[: options.batch], 2)
    loaded, started, replies = _peak_mb(), time.perf_counter(), []
    for first in range(0, len(contexts), options.batch):
        replies += answer(contexts[first : first + options.batch], options.tokens)
    seconds = time.perf_counter() - started
    return {
        "tokens_a_second": len(contexts) * options.tokens / seconds,
        "peak_mb": _peak_mb(),
        "loaded_mb": loaded,
        "replies": replies,
    }


def _make_checkpoint(kind: str) -> Any:
    """A new network, with weights spread so far that replies depend on their contexts. Its replies never end."""
    import torch

    from generation.networks.checkpoint import Checkpoint
    from generation.networks.empathy_words import END, train_words
    from generation.networks.families import load_family

    torch.manual_seed(1)
    family = load_family(kind)
    tokenizer = train_words((f"w{word}" for word in range(WORDS)), WORDS, 1)
    network: Any = family.build(family.config_class(kind=kind, vocabulary_size=tokenizer.get_vocab_size()))
    with torch.no_grad():
        network.words.weight.mul_(10)
        network.output.weight.mul_(10)
        network.output.bias[END] = -1e4
    return Checkpoint(network.eval(), tokenizer)


def _load_ours(options: argparse.Namespace, checkpoint: Any) -> Any:
    from generation.decoding.beam import beam_search
    from generation.decoding.decoding_settings import DecodingSettings
    from generation.decoding.projection import pack_output
    from generation.networks.families import load_family

    family, network = load_family(options.kinds[0]), checkpoint.network
    network.output = pack_output(network.output, network.output.weight.detach().clone())
    settings: dict[str, Any] = {"beams": BEAMS, "length_penalty": 0.0, "no_repeat_ngram": 0}
    answerer: Any = family.answerer(checkpoint, settings)

    def answer(contexts: Any, tokens: int) -> list[list[int]]:
        decoding = DecodingSettings(**settings, max_tokens=tokens)
        found = beam_search(answerer.begin(answerer.read(contexts), range(len(contexts))), decoding)
        return [hypotheses[0].tokens for hypotheses in found]

    return answer


def _load_plain(options: argparse.Namespace, checkpoint: Any) -> Any:
    import torch

    from generation.networks.empathy_network import NEVER_SAID
    from generation.networks.empathy_words import BEGIN, encode_turns

    @torch.inference_mode()
    def answer(contexts: Any, tokens: int) -> list[list[int]]:
        return [answer_one(context, tokens) for context in contexts]

    def answer_one(context: Any, tokens: int) -> list[int]:
        encoded = encode_turns(checkpoint.tokenizer, context.turns, 1000)
        source = torch.tensor([encoded.ids]), torch.tensor([encoded.speakers])
        said, scores = torch.tensor([[BEGIN]]), torch.zeros(1, 1)
        for _ in range(tokens):
            beams = len(said)
            predicted = checkpoint.network(*(row.expand(beams, -1) for row in source), said).log_probabilities[:, -1]
            predicted[:, NEVER_SAID] = -torch.inf
            best = (scores + predicted).flatten().topk(BEAMS)
            scores = best.values[:, None]
            parents, words = best.indices // predicted.shape[1], best.indices % predicted.shape[1]
            said = torch.cat([said[parents], words[:, None]], dim=1)
        found: list[int] = said[0, 1:].tolist()
        return found

    return answer


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
