"""Predict how long a run of generate_candidates will still take, and say afterwards how right that was."""

from dataclasses import dataclass, field
from datetime import datetime

from generation.run_requests import RunCounts

FIRST_SHARE = 0.1  # the prediction made after this share of the run is compared with the truth at the end


@dataclass
class Forecast:
    """Predicts the rest of a run from its rate since the first answers, because loading took the time before them."""

    began_at: datetime
    per_second: float | None = None
    seconds_left: float = 0.0
    _at_first: int | None = None
    _answering_since: tuple[datetime, int] | None = field(default=None, repr=False)
    _remembered: tuple[datetime, float] | None = field(default=None, repr=False)

    def note(self, counts: RunCounts, now: datetime) -> None:
        if self._at_first is None:
            self._at_first = counts.done
        if self._answering_since is None:
            if counts.done > self._at_first:
                self._answering_since = (now, counts.done)
            return
        since, before = self._answering_since
        if counts.done == before or now == since:
            return
        left = counts.total - counts.done
        self.per_second = (counts.done - before) / (now - since).total_seconds()
        self.seconds_left = left / self.per_second
        first_share = self._at_first + FIRST_SHARE * (counts.total - self._at_first)
        if self._remembered is None and left and counts.done >= first_share:
            self._remembered = (now, self.seconds_left)

    def describe(self, counts: RunCounts, now: datetime) -> str:
        elapsed = (now - self.began_at).total_seconds()
        done = counts.done - (self._at_first or 0)
        rate = f"{done / elapsed:.3g} a second" if done and elapsed else "None in this run"
        text = f"{rate}, {clock_time(elapsed)} in all."
        if self._remembered is not None:
            predicted_at, predicted = self._remembered
            took = (now - predicted_at).total_seconds()
            text += (
                f" After a tenth, {clock_time(predicted)} were predicted for the rest, which took {clock_time(took)}."
            )
        return text


def clock_time(seconds: float) -> str:
    """Write seconds as minutes or hours.

    >>> clock_time(59.6), clock_time(3725)
    ('1:00', '1:02:05')
    """
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
