"""Write a submitted form as QuestionFormAnswers, the XML in which MTurk gives it to the requester."""

import re
from xml.etree.ElementTree import Element, SubElement, tostring

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ADDED_BY_THE_FRAME = "assignmentId"


def answers_xml(fields: dict[str, list[str]]) -> str:
    """Return the XML. It has one Answer for each value, also of a name with several values. Characters that XML does
    not allow become U+FFFD."""
    root = Element("QuestionFormAnswers", xmlns=NAMESPACE)
    for name, values in fields.items():
        if name == ADDED_BY_THE_FRAME:
            continue
        for value in values:
            answer = SubElement(root, "Answer")
            SubElement(answer, "QuestionIdentifier").text = _replace_illegal(name)
            SubElement(answer, "FreeText").text = _replace_illegal(value)
    return tostring(root, encoding="unicode", xml_declaration=False)


def _replace_illegal(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)
