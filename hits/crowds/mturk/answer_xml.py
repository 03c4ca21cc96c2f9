"""The fields of a submitted form, from the XML in which MTurk keeps them."""

from xml.etree.ElementTree import ParseError

from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]


def fields_of(answer_xml: str) -> dict[str, str]:
    """The last value of each name; empty when it is no such XML, for a worker may have submitted anything."""
    try:
        root = fromstring(answer_xml)
    except (ParseError, ValueError):  # the second, where the XML tries to harm us
        return {}
    fields: dict[str, str] = {}
    for answer in root.iter():
        if answer.tag.endswith("}Answer"):
            parts = {part.tag.rpartition("}")[2]: part.text or "" for part in answer}
            fields[parts.get("QuestionIdentifier", "")] = parts.get("FreeText", "")
    return fields
