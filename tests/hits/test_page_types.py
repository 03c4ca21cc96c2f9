"""The page's types are made from the server's schemas, and the schemas say what pages really get."""

import json
from typing import Any

import pytest

from hits.api.page_schemas import PAGE_CONSTANTS, Answer, PageData, WarmUpReply, schema_of_page
from hits.api.typescript import typescript
from hits.management.commands.write_page_types import PLACE
from hits.models import Study
from tests.conftest import ROOT
from tests.hits.working import Worker, publish

PREVIEW = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
OF_PROTOCOL = {"areas"}


def test_the_generated_types_are_those_of_the_schemas() -> None:
    assert (ROOT / PLACE).read_text() == typescript(schema_of_page(), PAGE_CONSTANTS), "run manage.py write_page_types"


@pytest.mark.django_db
def test_every_kind_of_page_gets_what_the_schema_says_and_nothing_else(demo_study: Study) -> None:
    publish(demo_study)
    worker = Worker(demo_study.hits.get(number=0)).open()
    pages: list[dict[str, Any]] = [worker.data, Worker(worker.hit).open(**PREVIEW).data]
    worker.check(worker.checkpoint(), worker.all_in(worker.checkpoint(), "good"))
    pages.append(worker.open().data)
    worker.submit()
    pages.append(worker.open().data)

    for page in pages:
        read = PageData.model_validate_json(json.dumps(page), strict=True)
        assert page.keys() - PageData.model_fields.keys() == OF_PROTOCOL
        for reply in page["warm_up"]["replies"]:
            assert reply.keys() - WarmUpReply.model_fields.keys() == OF_PROTOCOL
        for dialog in page["dialogs"]:
            assert dialog["answer"].keys() - Answer.model_fields.keys() == OF_PROTOCOL
        assert read.model_dump(mode="json").keys() == page.keys()
    assert {page["mode"] for page in pages} == {"preview", "work", "submitted"}
