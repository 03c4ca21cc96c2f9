"""Group the problems of an import by reason: each is printed once, with its count and the first lines that have it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from generation.corpora.lines import Problem

LINES_TOLD = 5
MOST_REASONS = 10_000  # further ones are counted together, because memory must not depend on the file
OTHER = "other reasons"

# Parts of a message that differ from line to line though the problem is the same: ids, positions, lengths.
_VARYING = re.compile(r"""'(?:[^'\\]|\\.)*'|"[^"]*"|\d[\d,]*""")


@dataclass
class _Reason:
    example: str
    lines: list[int] = field(default_factory=list)
    count: int = 0
    are_alike: bool = True  # to the letter, not only but for ids and numbers


class ProblemsByReason:
    def __init__(self) -> None:
        self._reasons: dict[str, _Reason] = {}

    def add(self, problem: Problem) -> None:
        kind = _VARYING.sub("…", _without_id(problem))
        if kind not in self._reasons and len(self._reasons) >= MOST_REASONS:
            kind = OTHER
        reason = self._reasons.setdefault(kind, _Reason(problem.reason if kind != OTHER else OTHER))
        reason.count += 1
        reason.are_alike &= problem.reason == reason.example
        if len(reason.lines) <= LINES_TOLD and problem.line not in reason.lines:  # a line may hold several replies
            reason.lines.append(problem.line)

    def described(self, name: str, most: int) -> Iterator[str]:
        """Yield a line for each reason, the most frequent first."""
        ordered = sorted(self._reasons.values(), key=lambda reason: -reason.count)
        for reason in ordered[:most]:
            yield (
                f"{name}:{reason.lines[0]}: {reason.example}" if reason.count == 1 else _describe_repeated(name, reason)
            )
        if len(ordered) > most:
            left = sum(reason.count for reason in ordered[most:])
            yield f"{left:,} more problems have other reasons; --problems FILE writes all of them."


def _describe_repeated(name: str, reason: _Reason) -> str:
    told = reason.lines[:LINES_TOLD]
    lines = ", ".join(map(str, told)) + (", ..." if len(reason.lines) > len(told) else "")
    where = f"in lines {lines}" if len(told) > 1 else f"in line {lines}"
    which = "" if reason.are_alike else "the first is: "
    return f"{name}: {reason.count:,} times, {where}: {which}{reason.example}"


def _without_id(problem: Problem) -> str:
    """Return the reason without the dialog's id, with which a conflict begins."""
    return problem.reason.partition(": ")[2] if problem.is_conflict else problem.reason
