"""Workers who meet a dialog again with another pair of replies: nothing may take it for the same answer."""

from pathlib import Path

import pandas as pd
import pytest
from django.contrib.auth.models import User

from hits.analysing import analyse_study
from hits.analysing.rated_dialogs import rated_dialogs
from hits.batching import build_hits
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import create_study
from hits.exporting import check_bundle, export_bundle
from hits.frames import build_ratings, study_frames
from hits.models import HitItem, Offering, Study, offering_for
from hits.screening.comparing_rules import _card_codes
from tests.conftest import DEMO
from tests.hits.crowd import CrowdWorker, now, people, publish

SETTINGS = {
    **DEMO,
    "protocol": "pairs",
    "task": {"pairs_per_dialog": "each"},
    "generators": ["generic", "listener-large", "parrot"],
    "datasets": [{"name": "example-emotional", "dialogs": 20}],  # with identical replies, which make one card
    "checkpoints": {"per_hit": 0},
    "pay": {"bonus": "0"},
    "screening": [],
}


class PairWorker(CrowdWorker):
    def choose(self, side: str) -> None:
        dialogs = [
            {
                "position": position,
                "revision": dialog["answer"]["revision"],
                "better": {"overall": side} if len(dialog["cards"]) == 2 else {},
                "why": "",
            }
            for position, dialog in enumerate(self.data["dialogs"])
        ]
        answer = self.submit(dialogs)
        assert answer.status_code == 200, answer.content
        self.hand_in(answer.json()["fields"])


@pytest.fixture
def offering(example_corpus: None, researcher: User, market: MTurkMarket) -> Offering:
    """Two workers who did all HITs, and so met each dialog with each pair."""
    study = create_study(SETTINGS)
    Study.objects.filter(pk=study.pk).update(owner=researcher)
    study.refresh_from_db()
    build_hits(study)
    study.refresh_from_db()
    publish(study, market)
    for account, side in zip(people(), ("first", "tie"), strict=False):
        for hit in study.hits.order_by("number")[:6]:
            PairWorker(hit, account).choose(side)
    collect(offering_for(study, "local"), market, now())
    return offering_for(study, "local")


def test_an_untouched_bundle_holds_together_and_all_answers_are_counted(offering: Offering, tmp_path: Path) -> None:
    items = HitItem.objects.filter(hit__study=offering.study)
    assert items.count() == 3 * items.values("dialog").distinct().count() == 60
    assert {len(item.cards) for item in items} == {1, 2}

    folder = export_bundle(offering, tmp_path / "bundle", has_texts=True).folder

    assert check_bundle(folder) == []
    assert analyse_study(offering).main.size.answers == study_frames(offering).submissions["dialogs"].sum() == 120
    assert "counts once for each" in (folder / "examples.tex").read_text()
    methods, datasheet = (folder / "methods.md").read_text(), (folder / "datasheet.md").read_text()
    assert "on 20 dialogs (20 from example-emotional), drawn at random" in methods.replace("\n", " ")
    assert "Each dialog was shown once with each pair of models, in different tasks." in methods
    assert "20 of generic, 20 of listener-large and 20 of parrot were compared with another system's." in datasheet
    assert "drawn at random within each dataset (seed 2021); each dialog was shown once with each pair" in datasheet
    assert "The design had" not in datasheet
    assert "comparisons with other models that each model won" in (folder / "tables" / "table5.tex").read_text()


def test_cards_of_the_same_number_with_other_replies_are_not_the_same_card() -> None:
    """Two workers choose the first card of a dialog, which shows other replies in another block."""
    columns = {"submission": [1, 2], "worker": ["A", "B"], "dialog": [7, 7], "card": [0, 0], "value": [0, 2]}
    apart, alike = (
        build_ratings({**columns, "block": blocks}, ["win", "tie", "loss"]).assign(
            generator=pd.Categorical(["a", "a"], ["a", "b", "c"]), opponent=pd.Categorical(others, ["a", "b", "c"])
        )
        for blocks, others in (([0, 1], ["b", "c"]), ([0, 0], ["b", "b"]))
    )

    assert rated_dialogs(apart, {})["apart"] == [None]
    assert rated_dialogs(alike, {})["apart"] == [4.0]
    assert (len(set(_card_codes(apart))), len(set(_card_codes(alike)))) == (2, 1)
