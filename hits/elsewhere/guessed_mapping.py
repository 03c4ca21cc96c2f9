"""Guesses which columns of a file are what, by names that other tools give them and by what stands in them."""

import re
from collections.abc import Sequence

from hits.elsewhere.column_mapping import ROLES, ColumnMapping
from hits.elsewhere.first_look import FirstLook, is_number

SYNONYMS = {
    "item": (
        "item item_id context_id context dialog_id dialog dialogue_id dialogue conv_id conversation_id conversation "
        "prompt question_id prompt_id example_id sample_id instance_id segment_id seg_id doc_id unit_id unit "
        "input_id id"
    ).split(),
    "worker": (
        "worker worker_id workerid rater rater_id annotator annotator_id judge judge_id participant participant_id "
        "prolific_pid prolific_id user_id user coder evaluator assessor rated_by subject_id"
    ).split(),
    "generator": (
        "generator model model_name model_id system system_id system_name dialogmodel dialog_model bot agent method "
        "condition chatbot"
    ).split(),
    "dataset": "dataset corpus domain testset test_set".split(),
    "criterion": "criterion criteria aspect dimension quality attribute".split(),
}
VALUES = "value rating score human_score label judgement judgment annotation vote grade likert answer".split()
_RATERS = r"(?:rater|annotator|worker|judge|coder|evaluator|participant)"
_NO_RATING = re.compile(
    r"time|second|duration|date|age$|index|number|_no$|length|count|position|order|page|year|_id$|^id$"
)
MOST_DIFFERENT = 101  # values of a scale


def guess_mapping(look: FirstLook) -> ColumnMapping:
    """Guess; what can't be guessed stays empty."""
    if not look.has_header:
        return ColumnMapping(values=_trailing_numbers(look), each_is="worker")
    plain = {_plain(name): name for name in reversed(look.columns)}
    roles = {role: next((plain[word] for word in SYNONYMS[role] if word in plain), "") for role in ROLES}
    rest = [name for name in look.columns if name not in roles.values()]
    named = next((plain[word] for word in VALUES if word in plain and plain[word] in rest), "")
    if named:
        return ColumnMapping(**roles, values=(named,))
    return _wide(look, roles, rest)


def _wide(look: FirstLook, roles: dict[str, str], rest: Sequence[str]) -> ColumnMapping:
    """Guess what several columns of values differ by: raters (rater1_empathy), models (rating_gpt), or criteria."""
    by_rater = [name for name in rest if re.fullmatch(rf"{_RATERS}[ _-]?\d+.*", name, re.IGNORECASE)]
    if len(by_rater) > 1 and not roles["worker"]:
        prefix = re.match(rf"{_RATERS}[ _-]?", by_rater[0], re.IGNORECASE)
        ends = {re.sub(r"^\D+\d+", "", name) for name in by_rater}
        if prefix and ends == {""}:
            return ColumnMapping(**roles, values=tuple(by_rater), each_is="worker")
        if prefix and all(re.match(r"[ _-]", end) for end in ends):
            between = next(iter(ends))[0]
            return ColumnMapping(**roles, values=(f"{prefix[0]}{{worker}}{between}{{criterion}}",))
    for word in VALUES:
        same = [name for name in rest if re.match(rf"{word}s?[ _-]?.+", _plain(name)) and _is_rating(look, name)]
        prefix = re.match(rf"{word}s?[ _-]?", same[0], re.IGNORECASE) if len(same) > 1 else None
        if prefix and all(name.startswith(prefix[0]) for name in same):
            if all(name[len(prefix[0]) :].isdigit() for name in same):
                return ColumnMapping(**roles, values=tuple(same), each_is="worker")
            if not roles["generator"]:
                ends_of_names = [name[len(prefix[0]) :] for name in same]
                worker = roles["worker"] or _rater_pattern(rest, ends_of_names)
                return ColumnMapping(**{**roles, "worker": worker}, values=(f"{prefix[0]}{{generator}}",))
    numbered = _numbered(look, rest)
    if numbered and not roles["worker"]:
        return ColumnMapping(**roles, values=numbered, each_is="worker")
    ratings = [name for name in rest if _is_rating(look, name)]
    return ColumnMapping(**roles, values=tuple(ratings))


def _rater_pattern(rest: Sequence[str], ends: Sequence[str]) -> str:
    for name in rest:
        match = re.fullmatch(rf"({_RATERS}(?:_id)?[ _-]?){re.escape(ends[0])}", name, re.IGNORECASE)
        if match and all(f"{match[1]}{end}" in rest for end in ends):
            return f"{match[1]}{{generator}}"
    return ""


def _numbered(look: FirstLook, rest: Sequence[str]) -> tuple[str, ...]:
    """Return columns that are named alike but for a number, and hold ratings: one for each rater."""
    groups: dict[str, list[str]] = {}
    for name in rest:
        if (match := re.fullmatch(r"(.*\D)\d+", name)) and _is_rating(look, name):
            groups.setdefault(match[1], []).append(name)
    largest = max(groups.values(), key=len, default=[])
    return tuple(largest) if len(largest) > 1 else ()


def _trailing_numbers(look: FirstLook) -> tuple[str, ...]:
    found: list[str] = []
    for name in reversed(look.columns):
        if not _is_rating(look, name):
            break
        found.insert(0, name)
    return tuple(found)


def _is_rating(look: FirstLook, name: str) -> bool:
    """True if numbers stand in the column, few different ones or with fractions, and its name does not say that they
    are times or counts."""
    values = look.values_of(name)
    if not values or not all(map(is_number, values)) or (look.has_header and _NO_RATING.search(_plain(name))):
        return False
    different = set(values)
    is_id = len(different) == len(values) > 20 and all(value.isdigit() for value in values)
    has_fractions = any("." in value or "," in value for value in different)  # with a point or a decimal comma
    return not is_id and (len(different) <= MOST_DIFFERENT or has_fractions)


def _plain(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")
