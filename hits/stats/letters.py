"""Gives letters to generators, so that those that can't be told apart share one.

Two names share a letter exactly if they are not different: the compact letter display of Piepho (2004, "An algorithm
for a letter-based representation of all-pairwise comparisons"), by inserting and absorbing.
"""

from collections.abc import Collection, Sequence
from string import ascii_lowercase


def letter_display(names: Sequence[str], different: Collection[tuple[str, str]]) -> dict[str, str]:
    """Return each name's letters. `names` come best first; `different` has pairs in either order.

    >>> letter_display(["x", "y", "z"], [("x", "z")])
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    groups = [frozenset(names)] if names else []
    for pair in sorted(tuple(sorted(one, key=names.index)) for one in different):
        split = [group - {name} for group in groups if group.issuperset(pair) for name in pair]
        groups = _absorbed([*(group for group in groups if not group.issuperset(pair)), *split])
    groups.sort(key=lambda group: sorted(names.index(name) for name in group))
    return {name: "".join(_letter(index) for index, group in enumerate(groups) if name in group) for name in names}


def _absorbed(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    unique = list(dict.fromkeys(groups))
    return [group for group in unique if not any(group < other for other in unique)]


def _letter(index: int) -> str:
    """Return the name of a group: a, b, ... z, a1, b1, ..."""
    return ascii_lowercase[index % 26] + (str(index // 26) if index >= 26 else "")
