"""Parse and check the XML of a HIT's question, and find an external page's address and height in it."""

import re
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

from localturk.errors import RequestError, does_not_exist, invalid

MOST_BYTES = 65_535
ROOT = re.compile(
    r"\{http://mechanicalturk\.amazonaws\.com/AWSMechanicalTurkDataSchemas/[0-9-]+/"
    r"(?P<kind>ExternalQuestion|HTMLQuestion|QuestionForm)\.xsd\}(?P<tag>\w+)"
)
LOCAL_HOSTS = ("localhost", "127.0.0.1")


def check_question(params: dict[str, Any]) -> None:
    if "HITLayoutId" in params:
        # Layouts are made on MTurk's own web site, which does not exist here.
        raise does_not_exist("HITLayout", params["HITLayoutId"])
    if "Question" not in params:
        raise RequestError("AWS.MissingParameters", "Either Question or HITLayoutId must be given.")
    question = params["Question"]
    if len(question.encode()) > MOST_BYTES:
        raise invalid("Question", f"is longer than {MOST_BYTES} bytes.")
    root = _parse(question)
    if root.tag.endswith("}ExternalQuestion"):
        external_url(root)
        frame_height(root)


def parse_question(question: str) -> Element:
    """Parse the question of a stored HIT, for the worker's page."""
    return _parse(question)


def external_url(root: Element) -> str:
    url = (_text_of(root, "ExternalURL") or "").strip()
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and parts.hostname in LOCAL_HOSTS
    if not parts.hostname or not (parts.scheme == "https" or is_local):
        # MTurk accepts https only. The local marketplace also accepts http on this machine.
        raise invalid("ExternalURL", f"is {url!r}; it must begin with https://, or with http:// on this machine.")
    return url


def frame_height(root: Element) -> int:
    height = (_text_of(root, "FrameHeight") or "").strip()
    if not re.fullmatch(r"[0-9]{1,5}", height):
        raise _parse_error("FrameHeight must be a number of pixels.")
    return int(height)


def _parse(question: str) -> Element:
    try:
        root: Element = fromstring(question)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise _parse_error(str(error)) from None
    match = ROOT.fullmatch(root.tag)
    if match is None or match["kind"] != match["tag"]:
        raise _parse_error(f"The root element is {root.tag}, which is not a question with its XML namespace.")
    return root


def _text_of(root: Element, name: str) -> str | None:
    namespace = root.tag.partition("}")[0] + "}"
    return root.findtext(f"{namespace}{name}")


def _parse_error(problem: str) -> RequestError:
    message = f"There was an error parsing the XML question or answer data in your request: {problem}"
    return RequestError("AWS.MechanicalTurk.XMLParseError", message)
