"""A crowd that knows a study only as a whole: one study there, with places, to which it sends people without a HIT."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from hits.crowds import HandBack, Held, HitToOffer, MarketHit, Visit, Word, crowd_notes
from hits.crowds.hits_of_rows import hits_of_rows
from hits.errors import MarketUnavailable
from hits.models import Offering, Outcome
from tests.hits.toy_crowd import Panel, ToyCrowd, ToyMarket


@dataclass
class StudyPanel(Panel):
    address: str = ""
    is_on_offer: bool = False
    study: str = ""  # the id of the study there
    is_away: bool = False
    calls: int = 0
    ways_back: dict[Outcome, HandBack] = field(default_factory=dict)


class WholeMarket(ToyMarket):
    def __init__(self, crowd: "WholeCrowd", offering: Offering) -> None:
        super().__init__(crowd.panel, offering)
        self._crowd, self._whole = crowd, crowd.panel

    def offer_hit(self, offering: Offering, notes: Mapping[str, str], new: HitToOffer) -> str:
        return f"part-{new.number}-{new.round}"

    def settle_offering(
        self, offering: Offering, notes: Mapping[str, str], address: str, places: int, is_on_offer: bool
    ) -> Mapping[str, str]:
        panel = self._whole
        if panel.is_away:
            raise MarketUnavailable("The panel is away.")
        panel.calls += 1
        panel.study = notes.get("study") or panel.study or f"study of {offering.study.key}"
        panel.address, panel.places, panel.is_on_offer = address, places, is_on_offer
        return {**notes, "study": panel.study}

    def expire_hit(self, crowd_hit_id: str) -> None:
        """Only the whole study is on offer."""

    def extend_hit(self, crowd_hit_id: str, expires_at: datetime) -> None:
        """Only the whole study is on offer."""

    def add_assignments(self, crowd_hit_id: str, count: int, token: str) -> None:
        """Only the whole study has places."""

    def list_hits(self) -> Iterator[MarketHit]:
        numbers = list(self._offering.study.hits.values_list("number", flat=True))
        handed_in = {key: one.is_approved for key, one in self._whole.sessions.items() if one.code}
        return hits_of_rows(self._offering, self._crowd.marks(self._offering, numbers), handed_in)

    def get_hit(self, crowd_hit_id: str) -> MarketHit:
        return next(one for one in self.list_hits() if one.crowd_hit_id == crowd_hit_id)

    def reject(self, crowd_assignment_id: str, reason: str, category: str = "") -> None:
        """Whoever is rejected hears of it."""


class WholeCrowd(ToyCrowd):
    name = "whole"
    abilities = replace(ToyCrowd.abilities, can_reopen=True, can_reject=True, sends_to_study=True)
    panel: StudyPanel

    def __init__(self) -> None:
        self.panel = StudyPanel()

    def connect(self, offering: Offering, attempts: int) -> WholeMarket:
        return WholeMarket(self, offering)

    def ask_holder(self, visit: Visit, offering: Offering) -> Held:
        is_theirs = crowd_notes(offering).get("study") == self.panel.study
        return Held(Word.HOLDS if is_theirs else Word.DOES_NOT)

    def turn_away(self, visit: Visit, offering: Offering, outcome: Outcome) -> HandBack | None:
        return self.panel.ways_back.get(outcome)
