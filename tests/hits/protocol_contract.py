"""What every protocol must keep, whoever wrote it. Run it on a new one: `check_protocol(Likert)`."""

from collections.abc import Iterator
from typing import Any

import pytest

from hits.designing.asking_problems import find_impossible_asking
from hits.protocols import InvalidAnswer, Protocol
from hits.protocols.checking_protocols import SMALLEST_DESIGN, checked_protocol

STRANGE_KEYS = ["x", "-1", "99", "+1", " 1", "01", "1.0", "²", "", "toString"]  # neither a place nor a criterion
STRANGE_VALUES: list[Any] = ["nonsense", "", 0, 1.5, True, None, [], {}]
ORDER = [1, 0]


def check_protocol(of: type[Protocol[Any]]) -> None:
    protocol = checked_protocol(of)(of.design_class.model_validate({**SMALLEST_DESIGN, "protocol": of.name}))
    check_defaults(protocol)
    check_answers(protocol)


def check_defaults(protocol: Protocol[Any]) -> None:
    assert protocol.problems() == [], "a study of defaults has problems"
    assert list(find_impossible_asking(protocol)) == []
    assert protocol.instrument().described


def check_answers(protocol: Protocol[Any]) -> None:
    """An answer that fits survives, and one that does not is an InvalidAnswer and nothing else."""
    best, worst = 0, len(protocol.scale.values) - 1
    sent = protocol.sent_by([best, worst])
    value = protocol.read(sent, ORDER)
    assert protocol.show(value, ORDER) == sent
    assert protocol.missing(value, len(ORDER)) == 0
    assert protocol.missing(protocol.nothing(), len(ORDER)) == len(ORDER)
    assert not protocol.is_redone(value, value)
    for strange in [*strange_answers(sent), {**sent, "more": 1}]:
        if strange == sent:  # an empty text stays one
            continue
        with pytest.raises(InvalidAnswer):
            protocol.read(strange, ORDER)
    with pytest.raises(InvalidAnswer):
        protocol.read(sent, ORDER[:1])  # of a dialog with fewer replies


def strange_answers(said: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the answer with one key or one value changed to what no page sends."""
    if not isinstance(said, dict):
        yield from STRANGE_VALUES
        return
    for key, inner in said.items():
        others = {one: kept for one, kept in said.items() if one != key}
        if depth:  # the outermost keys are the fields, and what is no field is refused in any protocol
            yield from ({**others, strange: inner} for strange in STRANGE_KEYS)
        yield from ({**others, key: changed} for changed in strange_answers(inner, depth + 1))
