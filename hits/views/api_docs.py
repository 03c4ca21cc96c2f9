"""Shows the API's documentation, made from its OpenAPI schema, without loading anything from other hosts."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from drf_spectacular.generators import SchemaGenerator

from hits.api.researcher import ERRORS

TAG = "researcher"

Schema = dict[str, Any]


@dataclass(frozen=True)
class Property:
    """A parameter, or a field of an answer."""

    name: str
    kind: str
    description: str


@dataclass(frozen=True)
class Answer:
    status: str
    fields: list[Property]


@dataclass(frozen=True)
class Operation:
    key: str
    method: str
    path: str
    description: str
    parameters: list[Property]
    answers: list[Answer]


@require_GET
def show_api(request: HttpRequest) -> HttpResponse:
    context = {
        "operations": _operations(),
        "root": request.build_absolute_uri("/")[:-1],
        "errors": {status: error.description for status, error in ERRORS.items()},
        "limit": settings.API_REQUESTS_PER_MINUTE,
    }
    return render(request, "hits/api_docs.html", context)


@cache
def _operations() -> list[Operation]:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return [
        _operation(schema, method, path, found)
        for path, methods in schema["paths"].items()
        for method, found in methods.items()
        if TAG in found.get("tags", [])
    ]


def _operation(schema: Schema, method: str, path: str, found: Schema) -> Operation:
    return Operation(
        found["operationId"],
        method.upper(),
        path,
        found.get("description", ""),
        [
            Property(one["name"], _kind(schema, one["schema"]), _plain(one.get("description", "The study's key.")))
            for one in found.get("parameters", [])
        ],
        [Answer(status, _fields(schema, one)) for status, one in sorted(found["responses"].items()) if status < "400"],
    )


def _fields(schema: Schema, answer: Schema) -> list[Property]:
    bodies: list[Schema] = list(answer.get("content", {}).values())
    return list(_flattened(schema, bodies[0]["schema"], "")) if bodies else []


def _flattened(schema: Schema, body: Schema, prefix: str) -> Iterator[Property]:
    """Yield the fields; those of a list's rows come below the list."""
    for name, one in _resolved(schema, body).get("properties", {}).items():
        yield Property(f"{prefix}{name}", _kind(schema, one), _plain(one.get("description", "")))
        if one.get("type") == "array" and "$ref" in one["items"]:
            yield from _flattened(schema, one["items"], f"{prefix}{name}[].")


def _plain(markdown: str) -> str:
    return markdown.replace("`", "")


def _resolved(schema: Schema, one: Schema) -> Schema:
    if "$ref" not in one:
        return one
    found: Schema = schema["components"]["schemas"][one["$ref"].rsplit("/", 1)[1]]
    return found


def _kind(schema: Schema, one: Schema) -> str:
    if "anyOf" in one:
        return " or ".join(_kind(schema, part) for part in one["anyOf"])
    if "enum" in one:
        return " | ".join(map(str, one["enum"]))
    if one.get("type") == "array":
        return f"list of {_kind(schema, one['items'])}"
    if "allOf" in one:
        return _kind(schema, one["allOf"][0])
    if "$ref" in one:
        found = _resolved(schema, one)
        return _kind(schema, found) if "enum" in found else "object"
    return str(one.get("format") or one.get("const") or one.get("type") or "anything")
