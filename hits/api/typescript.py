"""Turns JSON schemas, as OpenAPI writes them, into TypeScript interfaces; it knows only what our schemas use."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

HEAD = "// Written by `manage.py write_page_types` from hits/api/page_schemas.py: change it there.\n"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}

Schema = Mapping[str, Any]


def typescript(schemas: Mapping[str, Schema], constants: Mapping[str, int | str]) -> str:
    """Return the interfaces, and beside them constants by which page and server agree."""
    named = [f"export const {name} = {json.dumps(value)};" for name, value in sorted(constants.items())]
    return "\n".join(
        [HEAD, *named, "", *(line for name in sorted(schemas) for line in _interface(name, schemas[name]))]
    )


def _interface(name: str, schema: Schema) -> Iterator[str]:
    yield from _comment(schema, "")
    yield f"export interface {name} {{"
    required = schema.get("required", [])
    for field, of_field in schema["properties"].items():
        yield from _comment(of_field, "  ")
        yield f"  {field}{'' if field in required else '?'}: {_type(of_field)};"
    yield "}\n"


def _comment(schema: Schema, indent: str) -> Iterator[str]:
    if words := " ".join(schema.get("description", "").split()):
        yield f"{indent}/** {words} */"


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if "prefixItems" in schema:
        return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        inner = _type(schema["items"])
        return f"({inner})[]" if " " in inner and not inner.startswith("[") else f"{inner}[]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_type(values)}>" if isinstance(values, Mapping) else "object"
    return PLAIN[schema["type"]]
