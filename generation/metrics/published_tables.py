"""Lay out stored scores as the tables of three papers, with the papers' own figures below.

In: a dataset whose replies were scored. Out: lines for the terminal. The papers' figures come from other sizes, data
splits and tokenizers, so they stand in rows of their own and are never compared by a test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from generation.metrics.score_tables import MISSING, newest_scores
from generation.models import Dataset, GeneratorScore


@dataclass(frozen=True)
class PaperColumn:
    metric: str  # the name under which our values are stored
    heading: str
    style: str
    factor: float = 1.0  # papers print shares as percentages


@dataclass(frozen=True)
class PaperTable:
    paper: str
    columns: tuple[PaperColumn, ...]
    published: Mapping[str, tuple[float | None, ...]]  # as the paper prints them; None where it has no figure


_PPL = PaperColumn("perplexity", "PPL", ".2f")

PAPER_TABLES = {
    "rashkin": PaperTable(
        "Rashkin et al. (2019), table 1",
        (
            PaperColumn("precision_at_1_100", "P@1,100", ".2f", 100),
            PaperColumn("bleu_average", "AVG BLEU", ".2f"),
            _PPL,
        ),
        {
            "Retrieval, pretrained, replies of Reddit": (None, 4.10, None),
            "Retrieval, pretrained": (43.25, 5.51, None),
            "Retrieval, fine-tuned": (56.90, 5.88, None),
            "Retrieval, fine-tuned, also DailyDialog": (None, 5.61, None),
            "Retrieval, fine-tuned, also Reddit": (None, 4.74, None),
            "Retrieval, EmoPrepend-1": (56.31, 5.93, None),
            "Retrieval, TopicPrepend-1": (56.38, 6.00, None),
            "BERT, pretrained, replies of Reddit": (None, 4.26, None),
            "BERT, pretrained": (49.94, 5.97, None),
            "BERT, fine-tuned": (65.92, 6.21, None),
            "BERT, EmoPrepend-1": (66.04, 6.20, None),
            "BERT, TopicPrepend-1": (65.96, 6.18, None),
            "Generative, pretrained": (None, 5.01, 27.96),
            "Generative, fine-tuned": (None, 6.27, 21.24),
            "Generative, EmoPrepend-1": (None, 4.36, 24.30),
            "Generative, TopicPrepend-1": (None, 4.17, 25.40),
        },
    ),
    "li": PaperTable(
        "Li et al. (2020, EmpDG), tables 1 and 2",
        (
            PaperColumn("emotion_top_1", "Accuracy", ".4f"),
            _PPL,
            PaperColumn("distinct_1", "Distinct-1", ".2f", 100),
            PaperColumn("distinct_2", "Distinct-2", ".2f", 100),
        ),
        {
            "Transformer": (None, 33.91, 1.17, 4.70),
            "EmoPrepend-1": (0.3328, 33.35, 1.06, 4.29),
            "MoEL": (0.3200, 33.58, 1.38, 4.66),
            "EmpDG": (0.3431, 34.18, 1.81, 6.94),
            "EmpDG w/o G": (0.3281, 33.94, 1.27, 5.21),
            "EmpDG w/o D": (0.3347, 32.66, 1.00, 3.89),
        },
    ),
    "majumder": PaperTable(
        "Majumder et al. (2020, MIME), table 2, its ablation and its text",
        (
            PaperColumn("bleu_4", "BLEU", ".2f"),
            PaperColumn("emotion_top_1", "top 1", ".0f", 100),
            PaperColumn("emotion_top_2", "top 2", ".0f", 100),
            PaperColumn("emotion_top_5", "top 5", ".0f", 100),
        ),
        {
            "Multi-TR": (2.92, None, None, None),
            "MoEL": (2.90, 38, 63, 74),
            "MIME": (2.98, 34, 58, 77),
            "MIME without mimicry and grouping": (2.45, None, None, None),
            "MIME without mimicry": (2.96, None, None, None),
        },
    ),
}


def table_as_in(paper: str, dataset: Dataset) -> Iterator[str]:
    """Yield the lines of our models' scores in the layout of a paper's table, then the paper's own rows."""
    table = PAPER_TABLES[paper]
    scores = GeneratorScore.objects.filter(dataset=dataset).select_related("generator")
    ours: dict[str, dict[str, float]] = {}
    for score in newest_scores(scores):
        ours.setdefault(score.generator.name, {})[score.metric] = score.value
    rows = {name: [_scaled(values, column) for column in table.columns] for name, values in sorted(ours.items())}
    published = {name: list(values) for name, values in table.published.items()}
    width = max(map(len, [*rows, *published])) + 2
    yield f"{'As in ' + table.paper:<{width}}" + "".join(f"{column.heading:>12}" for column in table.columns)
    for heading, found in ((f"Models here, on {dataset}", rows), ("Published", published)):
        yield heading
        for name, values in found.items():
            yield f"{name:<{width}}" + "".join(
                f"{_written(value, column):>12}" for value, column in zip(values, table.columns, strict=True)
            )
    yield "The published models have other sizes, data and tokenizers. Distinct falls with the number of replies."


def _scaled(values: Mapping[str, float], column: PaperColumn) -> float | None:
    return values[column.metric] * column.factor if column.metric in values else None


def _written(value: float | None, column: PaperColumn) -> str:
    return MISSING if value is None else f"{value:{column.style}}"
