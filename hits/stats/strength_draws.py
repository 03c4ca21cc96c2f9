"""Draws rankings that the ratings leave possible: strengths of generators, with their estimated covariance."""

import numpy as np
import numpy.typing as npt

from hits.stats.bradley_terry import fit_strengths
from hits.stats.clusters import Clusters, widened_covariance
from hits.stats.coded_ratings import CodedRatings
from hits.stats.estimates import Undefined

Floats = npt.NDArray[np.float64]

DRAWS = 4_000


def draw_strengths(ratings: CodedRatings, seed: int = 1) -> tuple[dict[str, float], Floats] | Undefined:
    """Return the strength of each generator (hits.stats.bradley_terry), all datasets together, and draws of all of them
    in the same order: (draws, generators)."""
    fitted, _ = fit_strengths(ratings, is_pooled=len(ratings.datasets) > 1)
    if isinstance(fitted, Undefined):
        return fitted
    names = [ratings.generators[code] for code in fitted.codes]
    terms = [_products(fitted.influences, codes) for codes in _codes_of(fitted.clusters)]
    covariance = widened_covariance(terms, fitted.clusters)
    # A two-way covariance may have roots just below 0; they are taken as 0.
    roots, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    normal = np.random.default_rng(seed).standard_normal((DRAWS, len(names)))
    draws = fitted.strengths + (normal * np.sqrt(np.maximum(roots, 0))) @ vectors.T
    return dict(zip(names, map(float, fitted.strengths), strict=True)), draws


def _codes_of(clusters: Clusters) -> tuple[npt.NDArray[np.integer], ...]:
    return clusters.dialog, clusters.worker, clusters.answer


def _products(influences: Floats, codes: npt.NDArray[np.integer]) -> Floats:
    """Sum the influences within each cluster, and return the products of these sums, added up over clusters."""
    sums = np.stack([np.bincount(codes, weights=column) for column in influences.T])
    return np.asarray(sums @ sums.T)
