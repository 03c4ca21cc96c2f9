"""The worker's endpoints as a stranger meets them: hundreds of odd requests, made from their own description."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.cache import cache
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hits.models import Study
from tests.hits.working import Worker, publish


def test_the_description_is_valid(tmp_path: object) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", f"{tmp_path}/schema.yaml")


@contextmanager
def open_connection() -> Iterator[None]:
    """As Django's own test client has it: the end of a request does not close the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.parametrize("path", ["/work/api/save/", "/work/api/check/", "/work/api/submit/"])
@pytest.mark.parametrize("is_known", [True, False], ids=["own token", "any token"])
def test_no_request_makes_the_server_stumble(demo_study: Study, path: str, is_known: bool) -> None:
    # Here, not above: it takes long to load, and every process of the suite reads this file.
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

    checks = [not_a_server_error, status_code_conformance, response_schema_conformance]
    publish(demo_study)
    token = Worker(demo_study.hits.get(number=0)).open().data["token"]
    generator: Any = SchemaGenerator
    schema = schemathesis.openapi.from_dict(generator().get_schema(request=None, public=True))
    schema.app = WSGIHandler()
    operation = schema[path]["POST"]
    cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode))

    @given(case=cases)
    @settings(max_examples=15, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    def call(case: Any) -> None:
        cache.clear()  # the limit of calls a minute is tested elsewhere
        headers = {"Authorization": f"Assignment {token}"} if is_known else None
        case.call_and_validate(headers=headers, checks=checks)

    with open_connection():
        call()
