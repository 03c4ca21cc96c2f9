"""Writes the question of a HIT: the address of our page, and the height of its frame.

ElementTree escapes the address.
"""

from xml.etree import ElementTree

EXTERNAL_QUESTION = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"


def external_question(url: str, frame_height: int) -> str:
    """Return the ExternalQuestion XML for our page."""
    root = ElementTree.Element("ExternalQuestion", xmlns=EXTERNAL_QUESTION)
    ElementTree.SubElement(root, "ExternalURL").text = url
    ElementTree.SubElement(root, "FrameHeight").text = str(frame_height)
    return ElementTree.tostring(root, encoding="unicode")
