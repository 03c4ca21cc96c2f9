"""Many calls at once."""

from threading import Event

from hits.crowds import call_in_threads


def test_outcomes_that_come_together_are_in_the_order_of_their_items() -> None:
    has_ended = [Event() for _ in range(9)]
    has_ended[8].set()

    def call(number: int) -> None:
        """The last one ends first."""
        has_ended[number + 1].wait()
        has_ended[number].set()

    gathered = [[number for number, _ in outcomes] for outcomes in call_in_threads(call, range(8), threads=8)]

    assert sorted(number for together in gathered for number in together) == list(range(8))
    assert gathered == [sorted(together) for together in gathered]


def test_outcomes_come_in_the_order_of_their_items_where_that_is_asked_for() -> None:
    may_end = Event()

    def call(number: int) -> int:
        """The first one ends last."""
        if number == 0:
            may_end.wait()
        elif number == 7:
            may_end.set()
        return number

    gathered = [number for outcomes in call_in_threads(call, range(8), 8, in_order=True) for number, _ in outcomes]

    assert gathered == list(range(8))
