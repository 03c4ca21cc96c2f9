"""The limits on calls hold when many threads call at once."""

from concurrent.futures import ThreadPoolExecutor

from hits.serving.visit_limits import MinuteCounter


def test_as_many_calls_as_the_limit_says_are_allowed_however_many_threads_call() -> None:
    counter = MinuteCounter(most=300)

    with ThreadPoolExecutor(8) as threads:
        allowed = list(threads.map(lambda _: counter.allows("192.0.2.1"), range(2000)))

    assert sum(allowed) in (300, 600)  # twice, if a minute begins in between
    assert counter.allows("192.0.2.2")
