"""Give reply scores the titles that tables and files show beside people's ratings."""

from generation.metrics.all_metrics import METRICS

# This is the order of their columns in a bundle: first those from the texts alone, then those that ask the generator.
_ORDERED = sorted(METRICS, key=lambda metric: bool(metric.asks))
BESIDE_RATINGS = {name: title for metric in _ORDERED for name, title in metric.beside_ratings.items()}


def title_of(metric: str) -> str:
    return BESIDE_RATINGS.get(metric, metric)
