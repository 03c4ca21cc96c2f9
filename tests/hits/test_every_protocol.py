"""Every protocol keeps the contract, and one that can't work is refused when it is registered, by name."""

from typing import Any, Literal

import pytest

from hits.api.page_schemas import Answer, PageData
from hits.api.worker_schemas import CheckIn, DialogIn, DialogOut
from hits.designing.design_problems import problems_of
from hits.models.design import StudyDesign
from hits.protocols import PROTOCOLS, Protocol
from hits.protocols.checking_protocols import COMMON_PAGE_KEYS, BadProtocol, checked_protocol
from hits.protocols.criteria import Criterion, Scale, problems_of_criteria
from hits.protocols.sent_answers import COMMON_FIELDS, Sent
from hits.serving.copies import CheckCopy, DialogCopy
from tests.conftest import DEMO
from tests.hits.protocol_contract import check_protocol
from tests.hits.toy_duels import Duels
from tests.hits.toy_protocol import Stars
from tests.hits.toy_scales import Scales

GOOD = Scale(("2", "1"), ("two", "one"), (2, 1))


@pytest.mark.parametrize("protocol", [*PROTOCOLS.values(), Stars, Scales, Duels], ids=lambda one: one.name)
def test_a_protocol_keeps_the_contract(protocol: type[Protocol[Any]]) -> None:
    check_protocol(protocol)


def test_the_reserved_names_are_those_that_stand_beside_a_protocol_s_own() -> None:
    classes = (Answer, DialogIn, CheckIn, DialogOut, DialogCopy, CheckCopy)
    ours = {"bonus"}  # the answer to a check has it beside the dialog's fields

    assert {name for one in classes for name in one.model_fields} | ours == COMMON_FIELDS
    assert PageData.model_fields.keys() == COMMON_PAGE_KEYS


class TakenSent(Sent):
    moves: dict[str, str]


class OtherDefault(StudyDesign):
    protocol: Literal["other-default"] = "other-default"


def changed(**members: Any) -> type[Protocol[Any]]:
    return type("Changed", (Duels,), members)


@pytest.mark.parametrize(
    ("protocol", "problem"),
    [
        (changed(sent_class=TakenSent), "duels: 'moves' in sent_class is a field of every answer"),
        (
            changed(page_settings=lambda self: {"token": ""}),
            r"duels: 'token' in page_settings\(\) is there in any page",
        ),
        (changed(criteria=[Criterion("Care & wit", GOOD)]), "duels: criteria: 'Care & wit' can't name a criterion"),
        (changed(checkpoint_criterion="wit"), "duels: checkpoint_criterion 'wit' is no criterion"),
        (
            changed(outcomes={"mean score": "mean"}),
            "'win rate', and it offers 'mean score': give its design an Analysis",
        ),
        (changed(design_class=OtherDefault), "duels: its settings need defaults"),
    ],
)
def test_a_protocol_that_can_t_work_is_refused_when_it_is_registered(
    protocol: type[Protocol[Any]], problem: str
) -> None:
    assert checked_protocol(Duels) is Duels

    with pytest.raises(BadProtocol, match=problem):
        checked_protocol(protocol)


@pytest.mark.parametrize(
    ("criteria", "problem"),
    [
        ([], "is empty"),
        ([Criterion("a", GOOD), Criterion("a", GOOD)], "a is listed twice; list each once"),
        ([Criterion("care/wit", GOOD)], "'care/wit' can't name a criterion"),
        ([Criterion("Care", GOOD)], "'Care' can't name a criterion"),
        ([Criterion("care\n", GOOD)], r"'care\n' can't name a criterion"),
        ([Criterion("c" * 31, GOOD)], "at most 30"),
        ([Criterion("care", Scale(("1",), ("one",), (1,)))], "there must be two values or more"),
        ([Criterion("care", Scale(("1", "1"), ("a", "b"), (2, 1)))], "the value 1 is listed twice; list each once"),
        ([Criterion("care", Scale(("a b", "1"), ("a", "b"), (2, 1))), Criterion("wit", GOOD)], "at most 30"),
        ([Criterion("care", Scale(("9" * 31, "1"), ("a", "b"), (2, 1)))], "can't name a value"),
    ],
)
def test_names_that_rows_files_or_tables_could_not_carry_are_told(criteria: list[Criterion], problem: str) -> None:
    assert any(problem in one for one in problems_of_criteria(criteria))
    assert list(problems_of_criteria([Criterion("c" * 30, GOOD), Criterion("wit_2", GOOD)])) == []


@pytest.mark.usefixtures("example_corpus")
def test_a_researcher_s_wrong_criterion_is_a_problem_of_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROTOCOLS, Scales.name, Scales)
    settings = {**DEMO, "protocol": "scales"}

    def told(criteria: list[dict[str, Any]], **checkpoints: Any) -> list[str]:
        changed = {"task": {"criteria": criteria}, "checkpoints": {**DEMO["checkpoints"], **checkpoints}}
        return [str(one) for one in problems_of({**settings, **changed})]

    assert told([{"name": "fluency"}], at_least=3) == []
    [twice] = told([{"name": "fluency"}, {"name": "fluency"}], at_least=3)
    assert twice == "task.criteria: fluency is listed twice; list each once"
    assert "task.criteria: 'Fluency / wit' can't name a criterion" in told([{"name": "Fluency / wit"}])[0]
    assert told([{"name": "wit"}]) == ["checkpoints: nobody is asked about 'fluency'; use one of: wit"]
    assert told([{"name": "fluency"}], at_least=8) == [
        "checkpoints: lets no answer pass, so that nobody can win a checkpoint's point"
    ]
    assert told([{"name": "fluency"}], at_least=1) == [
        "checkpoints: lets every answer pass, so that nobody can miss a checkpoint's point"
    ]


def test_whether_replies_are_side_by_side_may_be_each_study_s_own() -> None:
    def is_side_by_side(layout: str) -> bool:
        smallest = {"name": "x", "datasets": [{"name": "x", "dialogs": 1}], "generators": ["x"]}
        return Scales(Scales.design_class.model_validate({**smallest, "task": {"layout": layout}})).is_side_by_side

    assert is_side_by_side("grid")
    assert not is_side_by_side("one by one")
