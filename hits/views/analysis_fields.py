"""Lists the fields of the form's last step: what a study is to show, and when it stops by itself."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from pydantic import ValidationError

from hits.models.design import StudyDesign
from hits.protocols import protocol_in
from hits.views.setting_fields import SMALLEST_DESIGN, SettingField, get_setting, pair_value

FAMILIES = [
    ("all pairs", "every model with every other"),
    ("one against the others", "one model with each of the others"),
    ("named pairs", "the pairs that you choose below"),
]


def analysis_fields(settings: Mapping[str, Any]) -> list[SettingField]:
    models = [str(name) for name in get_setting(settings, "generators")]
    return [
        SettingField(
            "analysis.outcome",
            "What is compared",
            "choice",
            "One outcome decides. Results show the others too, marked as exploratory.",
            _outcomes(settings),
        ),
        SettingField(
            "analysis.compare",
            "Which models are compared",
            "choice",
            "These pairs share an error of 5 %: the fewer they are, the smaller the differences that you can find.",
            FAMILIES,
        ),
        SettingField(
            "analysis.reference",
            "The model that the others are compared with",
            "choice",
            "Needed if one model is compared with each of the others.",
            _references(settings, models),
        ),
        SettingField(
            "analysis.pairs",
            "The pairs",
            "pairs",
            "Needed if you choose the pairs.",
            _pairs(settings, models),
        ),
        SettingField(
            "analysis.planned_dialogs",
            "Dialogs after which verdicts are given",
            "number",
            "0: all dialogs of the study. Until then, results are interim and have no verdicts.",
        ),
        SettingField(
            "analysis.stop_when_decided",
            "Stop by itself when every pair is decided",
            "flag",
            "Nobody is asked for more work than the answer needs. Who holds a HIT may finish it and is paid. Results "
            "are then decided by confidence sequences, which are wider than fixed-sample intervals.",
        ),
        SettingField(
            "analysis.equal_within",
            "Two models are equal if they differ by less than",
            "number",
            "In units of what is compared: 0.05 is 5 points of a share. 0: never called equal, so that two equal "
            "models are rated to the end.",
        ),
        SettingField(
            "analysis.drop_losers",
            "Leave out models that have lost",
            "flag",
            "HITs that are published later show the others only. HITs that are on offer already stay as they are.",
        ),
        SettingField(
            "analysis.wave_hits",
            "HITs that are published at a time",
            "number",
            "When these are done and not everything is decided, the next ones are published by themselves, within the "
            "budget. 0: you publish each wave.",
        ),
    ]


def _outcomes(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the outcomes that the draft's protocol offers, in its own words; in the usual ones while a draft can't be
    read."""
    protocol = protocol_in(settings)
    own = {name: settings[name] for name in ("protocol", "task") if name in settings}
    for tried in (settings, SMALLEST_DESIGN | own, {**SMALLEST_DESIGN, "protocol": protocol.name}):
        try:
            return [*protocol(StudyDesign.model_validate(tried)).outcomes.items()]
        except ValidationError:
            continue
    return []


def _references(settings: Mapping[str, Any], models: list[str]) -> list[tuple[str, str]]:
    """Offer the study's models, and a name that the draft has and that is none of them, so that it can be changed."""
    chosen = str(get_setting(settings, "analysis.reference") or "")
    strangers = [chosen] if chosen and chosen not in models else []
    return [("", "none"), *((name, name) for name in [*models, *strangers])]


def _pairs(settings: Mapping[str, Any], models: list[str]) -> list[tuple[str, str]]:
    """Offer all pairs of the study's models; a pair that the draft names stays as it is written there."""
    named = [pair for pair in get_setting(settings, "analysis.pairs") if isinstance(pair, list)]
    written = {frozenset(map(str, pair)): pair for pair in named}
    offered = [written.pop(frozenset(pair), list(pair)) for pair in combinations(models, 2)]
    return [(pair_value(pair), " with ".join(map(str, pair))) for pair in [*offered, *written.values()]]
