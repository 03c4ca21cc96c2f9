"""Turns a design into the fields of a study on Prolific, and says by which mark and codes we know it again."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.html import escape

from hits.crowds.prolific.quoting import minutes_there, reward_of
from hits.models import Offering

PREFIX = "EvalPlatform"
FINISHED, NO_CONSENT, STUDY_FULL = "finished", "no consent", "study full"
CODE_TYPES = {FINISHED: "COMPLETED", NO_CONSENT: "NO_CONSENT", STUDY_FULL: "OTHER"}
RETURN_REASONS = {
    NO_CONSENT: "You chose not to take part. Please return your submission; it does not count against you.",
    STUDY_FULL: "All places were taken when you came. Please return your submission; it does not count against you.",
}
PLACEHOLDERS = {
    "PROLIFIC_PID": "{{%PROLIFIC_PID%}}",
    "STUDY_ID": "{{%STUDY_ID%}}",
    "SESSION_ID": "{{%SESSION_ID%}}",
}
PLACE = "prolific"  # the parameter that says which environment sends somebody
DEVICES = ("desktop", "tablet", "mobile")
LABELS_AND_WARNINGS = ("study_labels", "content_warnings", "content_warning_details")
CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def study_fields(
    offering: Offering, address: str, places: int, codes: Mapping[str, str], project: str, block_filters: list[Any]
) -> dict[str, Any]:
    design = offering.study.parsed_design
    options = design.crowd.options
    fields = {
        "name": design.task.title,
        "internal_name": mark_of(offering),
        "description": escape(design.task.description),
        "external_study_url": study_url(address, offering.environment),
        "prolific_id_option": "url_parameters",
        "completion_codes": [_code(outcome, code) for outcome, code in codes.items()],
        "total_available_places": places,
        "estimated_completion_time": minutes_there(design),
        "maximum_allowed_time": design.crowd.time_limit_minutes,
        "reward": reward_of(design).on_wire(),
        "device_compatibility": list(options.get("devices", DEVICES)),
        "peripheral_requirements": [],
        "filters": [*options.get("filters", []), *block_filters],
        "submissions_config": {
            "max_submissions_per_participant": most_submissions(offering),
            "max_concurrent_submissions": -1,
        },
        "project": project,
    }
    if options.get("signed_links"):
        fields["is_external_study_url_secure"] = True
    return fields | {name: options[name] for name in LABELS_AND_WARNINGS if name in options}


def most_submissions(offering: Offering) -> int:
    """Return how many HITs a participant may take. There are no more than the study has, each once."""
    return min(offering.study.parsed_design.crowd.max_hits_per_worker, max(1, offering.study.hits.count()))


def study_url(address: str, environment: str) -> str:
    placeholders = "&".join(f"{name}={value}" for name, value in PLACEHOLDERS.items())
    return f"{address}?{PLACE}={environment}&{placeholders}"


# --- What we know it by ----------------------------------------------------------------------------------------------


def mark_of(offering: Offering) -> str:
    return next(marks_of(offering))


def marks_of(offering: Offering) -> Iterator[str]:
    """Yield the internal names by which we recognise our study, the one for new studies first.

    They are signed: a study's key stands in the page's address, and nobody else may make us adopt a study by it.
    """
    value = f"{offering.study.key} {offering.environment}"
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        digest = salted_hmac("hits.crowds.prolific.mark", value, secret=key, algorithm="sha256").hexdigest()
        yield f"{names_our_study(offering)}{digest[:32]}"


def names_our_study(offering: Offering) -> str:
    """Return how every internal name begins that claims to be of this study, rightly or not."""
    return f"{PREFIX} {offering.study.key} {offering.environment} "


def new_codes(offering: Offering) -> dict[str, str]:
    """Return a code for each outcome. Nobody can guess them; the same study has the same ones."""
    codes = {}
    for outcome in CODE_TYPES:
        value = f"{offering.study.key} {offering.environment} {outcome}"
        digest = salted_hmac("hits.crowds.prolific.code", value, algorithm="sha256").digest()
        codes[outcome] = "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in digest[:10])
    return codes


def codes_there(study: Mapping[str, Any]) -> dict[str, str]:
    """Return the codes that a study on Prolific has, which may have been made with an earlier SECRET_KEY."""
    by_type = {one["code_type"]: one["code"] for one in study.get("completion_codes", [])}
    return {outcome: by_type[kind] for outcome, kind in CODE_TYPES.items() if kind in by_type}


def _code(outcome: str, code: str) -> dict[str, Any]:
    if outcome in RETURN_REASONS:
        action: dict[str, str] = {"action": "REQUEST_RETURN", "return_reason": RETURN_REASONS[outcome]}
    else:
        action = {"action": "MANUALLY_REVIEW"}
    return {"code": code, "code_type": CODE_TYPES[outcome], "actor": "participant", "actions": [action]}
