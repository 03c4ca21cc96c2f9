"""Reads the fields of a submitted form from the XML in which MTurk stores them."""

from xml.etree.ElementTree import ParseError

from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]


def fields_of(answer_xml: str) -> dict[str, str]:
    """Return the last value of each field. Return nothing if the XML can't be read: a worker may have submitted
    anything."""
    try:
        root = fromstring(answer_xml)
    except (ParseError, ValueError):  # defusedxml raises ValueError if the XML is an attack
        return {}
    fields: dict[str, str] = {}
    for answer in root.iter():
        if answer.tag.endswith("}Answer"):
            parts = {part.tag.rpartition("}")[2]: part.text or "" for part in answer}
            fields[parts.get("QuestionIdentifier", "")] = parts.get("FreeText", "")
    return fields
