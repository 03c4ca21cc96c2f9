"""Check how often the papers' printed cells hold the truth, when their own tables are the truth.

python -m benchmarks.paper_cells [--studies 400] [--files mime mime-ab]

For each of the papers' study files (examples/), studies of its size and design are drawn from the truth of that name
(simulated_crowd/truths), through the protocol and without a database. The tables are those of results: means of each
criterion with two-way intervals, beside them 1.96 published standard errors; wins, losses and ties of votes and of
verdicts. Ratings have the effects that studies are planned with, 5 % taste among them. Three people do everything,
where the paper says so, and one more gives fourth votes; Rashkin's 180 tasks go to 20 workers.

A line says how many cells a table has, how many of all of them hold the truth, and which cell does so least often; the
lowest of 57 cells lies below the others by chance alone. "below" counts cells that are below 93 % beyond chance.
"""

import argparse
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import django
import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
django.setup()

from benchmarks.validity_cases import LEAST_COVERED, holds  # noqa: E402
from benchmarks.validity_table import BROKEN, Limit, Line  # noqa: E402
from hits.analysing.analysis import by_criterion  # noqa: E402
from hits.designing import parse_design, read_study_file  # noqa: E402
from hits.models.design import StudyDesign  # noqa: E402
from hits.protocols import protocol_of  # noqa: E402
from hits.screening import fourth_votes_mask, kept_mask  # noqa: E402
from hits.stats import (  # noqa: E402
    PLANNED_EFFECTS,
    Estimate,
    Interval,
    PairVotes,
    Tally,
    Undefined,
    VerdictRule,
    code_ratings,
    count_votes,
    human_row,
    table_rows,
)
from simulated_crowd.rehearsing_protocols import draw_ratings  # noqa: E402
from simulated_crowd.truths import HUMAN, Truth, read_truth  # noqa: E402

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TRUTHS = {"rashkin": "rashkin", "empdg": "empdg", "mime": "mime", "empdg-ab": "empdg", "mime-ab": "mime"}
WORKERS = {"rashkin": 20}  # elsewhere, the three annotators that the papers name
MEANS, PUBLISHED = "means, two-way interval", "means, 1.96 published SEM"
VOTES, VERDICTS = "wins, losses, ties of votes", "wins, losses, ties of verdicts"
LIMIT = Limit(LEAST_COVERED, is_coverage=True)

Cells = dict[tuple[str, str], bool]  # by the table and the cell's name: whether its interval holds the truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400, help="simulated studies of each file (400)")
    parser.add_argument("--files", nargs="+", choices=list(TRUTHS), default=list(TRUTHS))
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    print(f"{options.studies} simulated studies of each file; 95 % intervals; limit {LEAST_COVERED:.0%}\n")
    print(f"{'study':10}{'table':32}{'cells':>6} {'hold':>7} {'+-':>6} {'below':>6}   least often")
    with ProcessPoolExecutor(options.processes) as pool:
        for name in options.files:
            began = time.monotonic()
            studies = list(pool.map(partial(cells_of, name), range(1, options.studies + 1), chunksize=5))
            for line in _table_lines(name, studies):
                print(line, flush=True)
            print(f"{'':10}({time.monotonic() - began:.0f} s)")


def cells_of(name: str, seed: int) -> Cells:
    """Simulate one study, and tell which cells of its tables hold the truth."""
    design = parse_design(read_study_file(EXAMPLES / f"{name}.toml"))
    truth = read_truth(TRUTHS[name]).model_copy(update={"effects": PLANNED_EFFECTS})
    frame = draw_ratings(design, truth, WORKERS.get(name, design.hits.assignments), seed)
    protocol = protocol_of(design)
    scales = {one.name: one.measured for one in protocol.criteria}
    found: Cells = {}
    for criterion, part in by_criterion(frame, scales):
        everything = code_ratings(part, scales[criterion])
        ratings, fourth = everything.of(kept_mask(part)), everything.of(fourth_votes_mask(part))
        if ratings.opponent is None:
            rows = [*table_rows(ratings), *([human_row(ratings, None)] if part["is_gold"].any() else [])]
            for row in rows:
                mean = mean_of(truth, design, row.generator or HUMAN, criterion)
                cell = f"{row.generator or 'human reply'}, {criterion}"
                found[MEANS, cell] = holds(row.mean_score, mean)
                found[PUBLISHED, cell] = holds(_as_published(row.mean_score, row.published_error), mean)
        for pair in count_votes(ratings, protocol.verdict_rule, fourth):
            found |= _cells_of_pair(pair, truth)
    return found


def mean_of(truth: Truth, design: StudyDesign, writer: str, criterion: str) -> float:
    shares = truth.shares(design.datasets[0].name, writer, criterion)
    return sum(share * point for share, point in zip(shares, range(len(shares), 0, -1), strict=True))


def _as_published(mean: Estimate | Undefined, error: float | Undefined) -> Estimate | Undefined:
    if isinstance(mean, Undefined) or isinstance(error, Undefined):
        return mean
    return Estimate(mean.value, Interval(mean.value - 1.96 * error, mean.value + 1.96 * error))


def _cells_of_pair(pair: PairVotes, truth: Truth) -> Cells:
    shares = truth.shares_of_pair(pair.first, pair.second)
    if shares is None or isinstance(pair.verdicts, Undefined):
        raise ValueError(f"There is no truth, or no verdict, about {pair.first} and {pair.second}.")
    name = f"{pair.first} - {pair.second}"
    decided = true_verdicts(shares, pair.rule, truth)
    return _cells_of_tally(VOTES, name, pair.votes, shares) | _cells_of_tally(VERDICTS, name, pair.verdicts, decided)


def _cells_of_tally(table: str, pair: str, found: Tally, shares: tuple[float, ...]) -> Cells:
    said = {"wins": found.win_share, "ties": found.tie_share, "losses": found.loss_share}
    return {
        (table, f"{pair}, {name}"): holds(share, true) for (name, share), true in zip(said.items(), shares, strict=True)
    }


def true_verdicts(shares: tuple[float, ...], rule: VerdictRule, truth: Truth) -> tuple[float, ...]:
    """Return the shares of verdicts that are wins, ties and losses, when three people vote with these shares.

    What all three see alike, the two replies, makes their votes alike; given that, they are independent.
    """
    effects = truth.effects
    common = effects.reply / (effects.reply + effects.taste + effects.rest)
    points, weights = np.polynomial.hermite_e.hermegauss(80)
    seen = np.sqrt(common) * points

    def above(share: float) -> npt.NDArray[np.float64]:
        """Return the chance that an opinion is above the border that so large a share is above."""
        return np.asarray(ndtr((seen - ndtri(1 - share)) / np.sqrt(1 - common)))

    win, no_loss = above(shares[0]), above(shares[0] + shares[1])
    chances = np.array([win, no_loss - win, 1 - no_loss])
    all_differ = 6 * chances.prod(axis=0) if rule == "fourth vote" else 0.0
    decided = (3 * chances**2 - 2 * chances**3 + all_differ * chances) @ weights
    return tuple(float(one) for one in decided / decided.sum())


def _table_lines(name: str, studies: list[Cells]) -> Iterator[str]:
    tables = dict.fromkeys(table for table, _ in studies[0])
    for table in tables:
        cells = [cell for of, cell in studies[0] if of == table]
        lines = [Line.of_studies(name, cell, [study[table, cell] for study in studies], LIMIT) for cell in cells]
        overall = Line.of_studies(name, table, [[study[table, cell] for cell in cells] for study in studies], LIMIT)
        below = sum(line.verdict == BROKEN for line in lines)
        worst = min(lines, key=lambda line: line.value)
        told = f"{worst.value:.1%} +- {worst.error:.1%} ({worst.what})"
        yield f"{name:10}{table:32}{len(cells):>6} {overall.value:>7.1%} {overall.error:>6.1%} {below:>6}   {told}"


if __name__ == "__main__":
    main()
