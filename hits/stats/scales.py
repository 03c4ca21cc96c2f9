"""Turns a value of a scale into its score.

    score = number of values - place of the value, counted from 0 at the best

The best of three values scores 3, the worst 1: the distance between neighbours is 1 on every scale.
"""

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@overload
def score_of(place: int, values: int) -> int: ...


@overload
def score_of(place: "npt.NDArray[np.integer[Any]]", values: int) -> "npt.NDArray[np.integer[Any]]": ...


def score_of(place: Any, values: int) -> Any:
    """Return the score of the value at a place, or of many as an array, on a scale of this many `values`.

    >>> [score_of(place, values=3) for place in range(3)]
    [3, 2, 1]
    """
    return values - place
