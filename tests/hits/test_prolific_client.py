"""The client of Prolific: what is repeated and what never, how errors are read, where lists end, money by its type."""

import json
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.views.debug import ExceptionReporter
from pytest_django import Settings

from evalplatform.errors import EvalPlatformError
from hits.crowds import BonusToPay
from hits.crowds.prolific.prolific_calls import ProlificCalls
from hits.crowds.prolific.prolific_client import ProlificClient, ProlificRefused
from hits.crowds.prolific.prolific_money import Hundredths, MoneyMixedUp, WholeCurrency, hundredths_from, sum_of
from hits.crowds.prolific.prolific_transport import OFFICIAL, Answer, AnswerLost, HiddenText, OverHttp, open_transport
from hits.errors import MarketRefused, MarketUnavailable

TOKEN = "a-token-that-nobody-may-see"


class Scripted:
    """A transport that gives one answer after another, and remembers what was asked."""

    base = OFFICIAL

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, Any]] = []

    def __call__(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        self.asked.append((method, path, json.loads(body) if body else None))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, shape = answer
        text = shape if isinstance(shape, str) else json.dumps(shape)
        return Answer(status, {}, text.encode())


def client(*answers: Any) -> tuple[ProlificClient, Scripted]:
    transport = Scripted(*answers)
    return ProlificClient(transport, TOKEN, attempts=3, pause_seconds=0, sleep=lambda seconds: None), transport


BUSY, BROKEN, LOST = (429, {"error": {"title": "Too many"}}), (500, "oops"), AnswerLost("ReadTimeoutError")


@pytest.mark.parametrize("trouble", [BUSY, BROKEN, LOST], ids=["429", "500", "lost"])
def test_what_does_no_harm_is_repeated(trouble: Any) -> None:
    prolific, transport = client(trouble, trouble, (200, {"id": "1"}))

    assert prolific.get("studies/1/") == {"id": "1"}
    assert len(transport.asked) == 3


@pytest.mark.parametrize("trouble", [BUSY, BROKEN, LOST], ids=["429", "500", "lost"])
def test_in_the_end_it_is_unavailable(trouble: Any) -> None:
    prolific, _ = client(trouble, trouble, trouble)

    with pytest.raises(MarketUnavailable, match="does not accept requests right now"):
        prolific.get("studies/1/")


@pytest.mark.parametrize(
    ("trouble", "error"),
    [(BROKEN, MarketUnavailable), (LOST, MarketUnavailable), ((200, "{"), MarketUnavailable), (BUSY, MarketRefused)],
    ids=["500", "lost", "unreadable", "429"],
)
def test_an_order_is_sent_once_whatever_comes_back(trouble: Any, error: type[Exception]) -> None:
    prolific, transport = client(trouble)
    calls = ProlificCalls(prolific, "GBP", "local")

    with pytest.raises(error):
        calls.pay_bonus_list("l1")

    assert transport.asked == [("POST", "/api/v1/bulk-bonus-payments/l1/pay/", None)]


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (
            {"error": {"status": 400, "title": "Bad", "detail": {"reward": ["Too low."]}}},
            'Bad: {"reward": ["Too low."]}',
        ),
        ({"error": {"status": 400, "title": "Bad", "detail": ["One.", "Two."]}}, 'Bad: ["One.", "Two."]'),
        ({"message": "No such hook", "detail": "Look elsewhere."}, "No such hook: Look elsewhere."),
        ("<html>nothing</html>", "<html>nothing</html>"),
    ],
    ids=["object", "list", "flat", "no JSON"],
)
def test_both_forms_of_errors_are_read_and_the_body_is_kept(shape: Any, words: str) -> None:
    prolific, _ = client((400, shape))

    with pytest.raises(ProlificRefused) as caught:
        prolific.get("studies/1/")

    assert words in str(caught.value)
    assert caught.value.body == (shape if isinstance(shape, str) else json.dumps(shape))
    assert not caught.value.is_about_account


@pytest.mark.parametrize(
    ("status", "is_about_account", "is_gone"), [(401, True, False), (403, True, False), (404, False, True)]
)
def test_refusals_say_whom_they_concern(status: int, is_about_account: bool, is_gone: bool) -> None:
    prolific, _ = client((status, {"error": {"title": "No"}}))

    with pytest.raises(ProlificRefused) as caught:
        prolific.get("studies/1/")

    assert (caught.value.is_about_account, caught.value.is_gone) == (is_about_account, is_gone)
    assert TOKEN not in f"{caught.value} {caught.value.body} {caught.value.__dict__}"


def page(*ids: str, following: str | None = None) -> tuple[int, dict[str, Any]]:
    return 200, {"results": [{"id": one} for one in ids], "_links": {"next": {"href": following}}}


def test_a_list_ends_where_no_next_page_is_named_and_each_row_comes_once() -> None:
    second, third = (f"{OFFICIAL}/api/v1/submissions/?page={number}" for number in (2, 3))
    prolific, transport = client(page("a", following=second), page("a", "b", following=third), page("c"))

    assert [one["id"] for one in prolific.pages("submissions/", study="s")] == ["a", "b", "c"]
    assert [path for _, path, _ in transport.asked][1:] == [
        "/api/v1/submissions/?page=2",
        "/api/v1/submissions/?page=3",
    ]


def test_a_page_that_is_gone_ends_the_list_but_a_list_that_is_gone_is_refused() -> None:
    shorter, _ = client(page("a", following=f"{OFFICIAL}/api/v1/submissions/?page=2"), (404, {}))
    gone, _ = client((404, {}))

    assert [one["id"] for one in shorter.pages("submissions/")] == ["a"]
    with pytest.raises(ProlificRefused):
        list(gone.pages("submissions/"))


@pytest.mark.parametrize(
    "href", ["https://evil.example.org/api/v1/submissions/", "https://api.prolific.com.evil/api/v1/"]
)
def test_the_token_goes_to_no_other_server(href: str) -> None:
    prolific, transport = client(page("a", following=href))

    with pytest.raises(MarketUnavailable, match="elsewhere"):
        list(prolific.pages("submissions/"))
    assert len(transport.asked) == 1


@pytest.mark.parametrize("base", ["https://api.prolific.co", "http://127.0.0.1:8000/localprolific", ""])
def test_no_other_address_is_called(base: str) -> None:
    with pytest.raises(EvalPlatformError, match="is not Prolific's address"):
        OverHttp(base)


def test_a_local_prolific_elsewhere_must_be_named_in_the_settings(settings: Settings) -> None:
    settings.PROLIFIC_LOCAL_URL = "http://127.0.0.1:9/localprolific"

    assert open_transport("local").base == "http://127.0.0.1:9/localprolific"
    assert open_transport("production").base == OFFICIAL
    with pytest.raises(EvalPlatformError, match="no path of Prolific's API"):
        open_transport("local")("GET", "//evil.example.org/", b"", {})


def test_no_traceback_shows_the_token_even_with_its_variables() -> None:
    prolific = ProlificClient(lambda *call: 1 / 0, HiddenText(TOKEN))  # type: ignore[arg-type]

    with pytest.raises(ZeroDivisionError) as raised:
        prolific.get("studies/1/")

    error = raised.value
    with_variables = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    page = ExceptionReporter(None, type(error), error, error.__traceback__).get_traceback_html()
    assert "'***'" in with_variables
    for text in (with_variables, page, repr(vars(prolific))):
        assert TOKEN not in text


# --- Money -----------------------------------------------------------------------------------------------------------


def bonus(cents: int, key: str = "s1") -> BonusToPay:
    return BonusToPay(key, "p1", "bonus", cents)


def test_a_list_of_bonuses_is_written_in_whole_currency() -> None:
    answer = {"id": "l1", "amount": 3007, "fees": 1001.34, "vat": 200.27, "total_amount": 4208.61}
    prolific, transport = client((201, answer))

    made = ProlificCalls(prolific, "GBP", "local").create_bonus_list("study", [bonus(3000), bonus(7, "s2")])

    assert (made.list_id, made.total_cents) == ("l1", 4209)
    assert transport.asked[0][2] == {"study_id": "study", "csv_bonuses": "s1,30.00\ns2,0.07"}


def test_a_list_that_prolific_reads_a_hundred_times_too_high_is_not_paid() -> None:
    prolific, _ = client((201, {"id": "l1", "amount": 1000}))

    with pytest.raises(MoneyMixedUp, match=r"over £0\.10 as £10\.00"):
        ProlificCalls(prolific, "GBP", "local").create_bonus_list("study", [bonus(10)])


@pytest.mark.parametrize(
    "bonuses", [[bonus(1), bonus(2)], [bonus(1, "s1,100")], [bonus(1, "=HYPERLINK(1)")], [bonus(1, "")]]
)
def test_a_list_names_each_submission_once_and_plainly(bonuses: list[BonusToPay]) -> None:
    prolific, transport = client()

    with pytest.raises(MoneyMixedUp):
        ProlificCalls(prolific, "GBP", "local").create_bonus_list("study", bonuses)
    assert transport.asked == []


WRONG: list[Callable[[], object]] = [
    lambda: Hundredths(1.5, "GBP"),  # type: ignore[arg-type]
    lambda: Hundredths(-1, "GBP"),
    lambda: Hundredths(True, "GBP"),
    lambda: WholeCurrency(30, "GBP"),  # type: ignore[arg-type]
    lambda: WholeCurrency("30", "GBP"),
    lambda: sum_of([WholeCurrency("30.00", "GBP")], "GBP"),  # type: ignore[list-item]
    lambda: sum_of([Hundredths(1, "USD")], "GBP"),
    lambda: hundredths_from("30", "GBP"),
    lambda: hundredths_from(None, "GBP"),
]


@pytest.mark.parametrize("make", WRONG)
def test_units_and_currencies_are_never_mixed_up(make: Callable[[], object]) -> None:
    with pytest.raises(MoneyMixedUp):
        make()


def test_pence_and_pounds_have_no_arithmetic_in_mypy_or_when_run() -> None:
    """mypy takes an ignore that it does not need for an error, so each of these lines is one that it refuses."""
    pence = Hundredths(30, "GBP")
    pounds = pence.in_whole_currency
    in_a_list: str = pounds.on_wire()
    in_an_answer: int = pence.on_wire()
    _: Hundredths = pounds  # type: ignore[assignment]
    _int: int = pounds.on_wire()  # type: ignore[assignment]
    _text: str = pence.on_wire()  # type: ignore[assignment]

    with pytest.raises(TypeError):
        pence + pounds  # type: ignore[operator]
    with pytest.raises(TypeError):
        pence * 100  # type: ignore[operator]
    with pytest.raises(TypeError):
        pounds * 100  # type: ignore[operator]
    assert (in_a_list, in_an_answer) == ("0.30", 30)


def test_fractions_of_a_penny_are_rounded_up() -> None:
    assert [hundredths_from(one, "GBP").count for one in (283.34, 283, 283.0, 0)] == [284, 283, 283, 0]
