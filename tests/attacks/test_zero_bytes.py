"""A stranger may send NUL in any text. PostgreSQL can't store it, and a page whose save fails sends it for ever."""

import pytest

from hits.models import Answer, OpenLink
from hits.protocols import PROTOCOLS
from hits.protocols.pairs import PairsSent
from hits.protocols.sent_answers import Sent
from tests.hits.test_links import Visitor, offered


def test_a_reason_with_nul_is_saved_without_it(example_corpus: None, transactional_db: None) -> None:
    offered(protocol="pairs", task={"asks_why": True})
    visitor = Visitor(OpenLink.objects.get()).agree()
    sent = {"position": 0, "revision": 0, "better": {"overall": "first"}, "why": "a\0b"}

    answer = visitor.call("save", {"step": "dialog-0", "dialogs": [sent]})

    assert answer.status_code == 200, answer.content
    assert Answer.objects.get().value["why"] == "ab"


def test_no_text_of_any_protocol_keeps_nul() -> None:
    class Future(Sent):
        words: list[str]
        notes: dict[str, dict[str, str]]

    sent = Future.model_validate({"words": ["a\0b"], "notes": {"k\0": {"0": "\0"}}})

    assert (
        "\\u0000"
        not in sent.model_dump_json() + PairsSent.model_validate({"better": {}, "why": "\0"}).model_dump_json()
    )


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_every_protocol_reads_what_is_sent_in_this_way(name: str) -> None:
    assert issubclass(PROTOCOLS[name].sent_class, Sent)
