"""Play a simulated worker on our page: open it, judge the cards of each dialog, ask for the bonus, and submit."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.html import json_script

from evalplatform.errors import EvalPlatformError
from hits.protocols import Protocol
from simulated_crowd.channels import Channel, Reply
from simulated_crowd.dice import uniform
from simulated_crowd.judging import Judge, Writers
from simulated_crowd.knowing import KnownDialog
from simulated_crowd.working_times import Pace

DATA_START = json_script({}, "hit").split("{}")[0]
CODE_START = 'data-code="'
OBEYED = 0.98  # how often somebody who judges every card answers an attention check as it tells


class TurnedAway(Exception):
    """Our page refuses the worker. `code` says why, as the page's API names it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Visit:
    channel: Channel
    judge: Judge
    protocol: Protocol[Any]
    dialogs: Sequence[KnownDialog]
    pace: Pace
    _unsent: list[dict[str, Any]] = field(default_factory=list)

    def open(self, path: str) -> None:
        reply = self.channel.send("GET", path)
        if reply.status == 403 and CODE_START in reply.text:
            raise TurnedAway(reply.text.split(CODE_START, 1)[1].split('"', 1)[0])
        if reply.status != 200:
            raise _describe_unexpected(self.channel, path, reply)
        self._page = json.loads(reply.text.split(DATA_START, 1)[1].split("</script>", 1)[0])

    def work_through(self, dialog_count: int) -> None:
        """Work on so many dialogs, with one save for each, as the page does. After a bonus check, the final times wait
        for the next save."""
        if not self._page["has_agreed"]:
            self.call("save", {"step": "instructions", "consent": self._page["consent_version"]})
        for position in range(dialog_count):
            dialog = _DialogVisit(self, self._page["dialogs"][position], position)
            was_checked = dialog.work()
            self._unsent.append(dialog.state())
            if not was_checked or position == dialog_count - 1:
                self._save(f"dialog-{position}")

    def submit(self) -> dict[str, str]:
        """Submit, and return the fields that the page would post to the marketplace."""
        fields: dict[str, str] = self.call("submit", {"feedback": "", "dialogs": []})["fields"]
        return fields

    def _save(self, step: str) -> None:
        answer = self.call("save", {"step": step, "dialogs": self._unsent})
        if any(dialog["conflict"] for dialog in answer["dialogs"]):
            raise TurnedAway("conflict")
        self._unsent = []

    def call(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        path = f"/work/api/{name}/"
        headers = {"Authorization": f"Assignment {self._page['token']}"}
        reply = self.channel.send("POST", path, json.dumps(body).encode(), headers)
        answer: dict[str, Any] = json.loads(reply.text) if reply.status < 500 else {}
        if reply.status == 200:
            return answer
        if "code" in answer:
            raise TurnedAway(answer["code"])
        raise _describe_unexpected(self.channel, path, reply)


class _DialogVisit:
    """A worker's work on one dialog. Cards are known by their places; opinions are levels of the protocol's scale."""

    def __init__(self, visit: Visit, data: dict[str, Any], position: int) -> None:
        self._visit = visit
        self._worker = visit.judge.worker
        self._data = data
        self._position = position
        self._known = visit.dialogs[position]
        self._passing = visit.protocol.passing_levels
        self._cards = [self._find_writers(text) for text in data["cards"]]
        self._leads = visit.judge.leads(self._known, self._cards) if visit.protocol.puts_in_order else []
        self._by_criterion = self._levels_by_criterion()
        self._moved_up: set[int] = set()
        self._revision: int = data["answer"]["revision"]
        self._active_ms = visit.pace.active_ms[position]
        self._moves = [
            [int(self._active_ms * (0.2 + 0.5 * (place + 1) / len(self._levels))), place, self._level_name(level)]
            for place, level in enumerate(self._levels)
        ]

    def _levels_by_criterion(self) -> dict[str, list[int]]:
        protocol = self._visit.protocol
        if protocol.puts_in_order:
            return {one.name: protocol.levels_in_order(self._leads) for one in protocol.criteria}
        counts = {one.name: len(one.scale.values) for one in protocol.criteria}
        return self._visit.judge.levels_on(self._known, self._cards, counts)

    @property
    def _levels(self) -> list[int]:
        return self._by_criterion[self._visit.protocol.criteria[0].name]

    def work(self) -> bool:
        """Work on the dialog, and return whether a bonus check has already saved it."""
        wants_point = self._data["has_bonus"] and self._happens(self._worker.type.check_chance, "checks")
        if wants_point:
            self._ask_for_point()
        return bool(wants_point)

    def state(self, time_share: float = 1) -> dict[str, Any]:
        return {
            "position": self._position,
            "revision": self._revision,
            **self._sent(),
            "active_ms": int(self._active_ms * time_share),
            "hidden_ms": self._visit.pace.hidden_ms[self._position],
            "moves": self._moves,
        }

    def _sent(self) -> dict[str, Any]:
        """Return what the worker answers: what an attention check tells, if they have read it, or their opinion."""
        protocol, told = self._visit.protocol, self._known.told
        if told is not None and self._happens(OBEYED * self._worker.type.attention, "reads the check"):
            return dict(protocol.told_answers(len(self._cards))[told].sent)
        return protocol.sent_on(self._by_criterion)

    def _ask_for_point(self) -> None:
        attempt = self._data["bonus"]["attempts"]
        while True:
            attempt += 1
            time_share = 1 - 0.3 / (attempt + 1)
            answer = self._visit.call("check", {**self.state(time_share), "attempt": attempt})
            self._revision = answer["revision"]
            bonus = answer["bonus"]
            if bonus["passed"] or bonus["is_lost"] or bonus["attempts_left"] == 0:
                return
            place = self._think_again(attempt)
            if place is None:
                return
            self._move_up(place)
            self._moves.append([int(self._active_ms * time_share), place, self._level_name(self._levels[place])])

    def _move_up(self, place: int) -> None:
        """Give the card what passes, on each criterion."""
        self._moved_up.add(place)
        protocol = self._visit.protocol
        if protocol.puts_in_order:
            self._leads[place] = max(self._leads) + 1
            self._by_criterion = self._levels_by_criterion()
            return
        wanted = self._passing[0 if self._worker.type.is_hunting else -1]
        for one in protocol.criteria:
            last = len(one.scale.values) - 1
            self._by_criterion[one.name][place] = round(wanted * last / (len(protocol.scale.values) - 1))

    def _think_again(self, attempt: int) -> int | None:
        """Return the place of a card that the worker now takes for the human reply and moves up, or None to stop."""
        doubtful = [
            place
            for place, level in enumerate(self._levels)
            if level not in self._passing and place not in self._moved_up
        ]
        if not doubtful:
            return None
        if self._worker.type.is_hunting:
            # Choose at random, but by the card, not by its place, where other workers see other cards.
            return min(doubtful, key=lambda place: self._about("tries", *self._cards[place]))
        if attempt > 1 or not self._happens(self._worker.type.retry_chance, "thinks again"):
            return None
        return max(doubtful, key=lambda place: self._visit.judge.opinion(self._known, self._cards[place]))

    def _level_name(self, level: int) -> str:
        return str(self._visit.protocol.scale.values[level])

    def _find_writers(self, text: str) -> Writers:
        if text not in self._known.writers:
            raise EvalPlatformError(
                f"{self._visit.channel.site} shows a reply that is not in this database: does it use another one?"
            )
        return self._known.writers[text]

    def _happens(self, chance: float, what: str) -> bool:
        return self._about(what) < chance

    def _about(self, *what: str) -> float:
        return uniform(*self._worker.key, *what, self._known.dataset, self._known.external_id)


def _describe_unexpected(channel: Channel, path: str, reply: Reply) -> EvalPlatformError:
    hints = {404: " Does it use the same database as this command?", 400: " Is its host among ALLOWED_HOSTS?"}
    return EvalPlatformError(
        f"{channel.site}{path.partition('?')[0]} answers {reply.status}.{hints.get(reply.status, '')}"
    )
