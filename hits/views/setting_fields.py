"""Shows a study's settings as form fields, and reads them back.

A field is named after its setting ("pay.reward"), as in a study file. Fields only turn text into lists and numbers;
whether a value makes sense is for `hits.designing.design_problems` to say, which says it for files in the same words.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.http import QueryDict

from hits.crowds import crowd_in, options_of
from hits.models.design import StudyDesign
from hits.protocols import OwnSetting, protocol_in
from hits.screening import every_rule
from hits.views.filter_fields import is_same_filters, read_filters
from hits.views.table_fields import is_same_table, read_table, table_rows
from hits.views.typed_text import as_number, as_words, in_short

LISTS_OF_TABLES = ("datasets", "warm_up.replies", "screening")  # beside those of protocols and crowds
LIST_KINDS = ("labels", "table", "filters", "words", "lines", "many", "pairs")

Reader = Callable[[QueryDict, str], Any]

SMALLEST_DESIGN = {"name": "x", "datasets": [{"name": "x", "dialogs": 1}], "generators": ["x"]}


@dataclass(frozen=True)
class SettingField:
    path: str
    label: str
    kind: str = "text"
    help: str = ""
    choices: Sequence[tuple[str, str]] = ()
    columns: Sequence[OwnSetting] = ()  # of a table
    fitting: OwnSetting | None = None  # of the warm-up's replies: how the protocol says which answers fit

    @property
    def template(self) -> str:
        simple = {"text", "number", "money", "words"}
        long = {"markdown", "lines", "labels"}
        return f"hits/fields/{'input' if self.kind in simple else 'textarea' if self.kind in long else self.kind}.html"

    def read(self, post: QueryDict) -> Any:
        if self.fitting is not None:
            return _warm_up_replies(post, self.path, self.fitting.path)
        if self.kind == "table":
            return read_table(post, self.path, self.columns)
        return READERS[self.kind](post, self.path)

    def is_unchanged(self, post: QueryDict, settings: Mapping[str, Any]) -> bool:
        """Tell if the form says nothing new: a field can't show every line break and digit that a file can hold."""
        value = get_setting(settings, self.path)
        read = self.read(post)
        if self.fitting is not None:
            return _replies_in_short(read, self.fitting.path) == _replies_in_short(value, self.fitting.path)
        if self.kind == "table":
            return is_same_table(read, value, self.columns)
        if self.kind == "filters":
            return is_same_filters(read, value)
        if self.kind == "screening":
            return _rules_by_name(read) == _rules_by_name(value)
        if self.kind not in ("many", "dataset_counts", "flag", "pairs"):
            return _collapsed(post.get(self.path, "")) == _collapsed(self.value_in(settings))
        return bool(read == value)

    def value_in(self, settings: Mapping[str, Any]) -> Any:
        """Return the setting's value as the form shows it."""
        value = get_setting(settings, self.path)
        if self.kind == "table":
            return table_rows(value, self.columns)
        if self.kind == "pairs":
            return [pair_value(pair) for pair in value]
        if isinstance(value, list) and self.kind in WRITERS:
            return WRITERS[self.kind](value)
        return "" if value is None else in_short(value)


def pair_value(pair: Any) -> str:
    """Return a pair of names as the form sends it."""
    return json.dumps(pair, ensure_ascii=False)


def _replies_in_short(replies: list[Any], fitting: str) -> list[list[str]]:
    return [[_collapsed(reply.get(name)) for name in ("text", fitting, "praise", "hint")] for reply in replies]


def _rules_by_name(rules: list[Any]) -> dict[str, dict[str, Any]]:
    defaults = {rule.rule: rule.model_dump() for rule in every_rule()}
    return {rule.get("rule"): {**defaults.get(rule.get("rule"), {}), **rule} for rule in rules}


def _collapsed(value: Any) -> str:
    if isinstance(value, list):
        value = " ".join(map(str, value))
    # Without any white space: browsers drop line breaks from one-line fields.
    return "".join(str(value or "").replace(",", " ").split())


@lru_cache
def _defaults(protocol: str) -> dict[str, Any]:
    design = StudyDesign.model_validate({**SMALLEST_DESIGN, "protocol": protocol})
    return design.as_json() | {"name": "", "datasets": [], "generators": []}


def _defaults_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults that hold in this draft: its protocol's, with the options of its crowd."""
    usual = _defaults(protocol_in(settings).name)
    options: dict[str, Any] = {
        one.path.removeprefix("crowd.options."): [] if one.kind in LIST_KINDS else False if one.kind == "flag" else None
        for one in options_of(crowd_in(settings))
    }
    return usual | {"crowd": usual["crowd"] | {"options": options}}


def get_setting(settings: Mapping[str, Any], path: str) -> Any:
    """Return what the draft holds, or else the default."""
    found: Any = settings
    default: Any = _defaults_of(settings)
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
        default = default.get(part) if isinstance(default, Mapping) else None
    return found if found is not None and _has_shape_of(found, default, path, _own_settings(settings)) else default


def _own_settings(settings: Mapping[str, Any]) -> list[OwnSetting]:
    return [*protocol_in(settings).own_settings, *options_of(crowd_in(settings))]


def _has_shape_of(found: Any, default: Any, path: str, own_settings: Sequence[OwnSetting]) -> bool:
    """Tell if a value has the default's shape. Drafts may hold anything, and a list where a text should be must not
    break the page on which it can be repaired."""
    own = [one.path for one in own_settings if one.kind in ("labels", "table", "filters")]
    if path in LISTS_OF_TABLES or path in own:
        return isinstance(found, list) and all(isinstance(one, Mapping) for one in found)
    return isinstance(found, list) == isinstance(default, list) and not isinstance(found, Mapping)


def set_setting(settings: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with the value in its place; an empty value removes the setting, so that its default holds."""
    first, _, rest = path.partition(".")
    if rest:
        part = settings.get(first)
        value = set_setting(part if isinstance(part, Mapping) else {}, rest, value)
    if value is None or value == "" or (rest and value == {}):
        return {name: kept for name, kept in settings.items() if name != first}
    return {**settings, first: value}


def _all(post: QueryDict, path: str) -> list[str]:
    return list(post.getlist(path))


def _text(post: QueryDict, path: str) -> str:
    # Browsers send CRLF; a file has LF, and both must give the same study.
    return post.get(path, "").replace("\r\n", "\n").strip()


def _number(post: QueryDict, path: str) -> Any:
    return as_number(_text(post, path))


def _lines(post: QueryDict, path: str) -> list[str]:
    return [line.strip() for line in _text(post, path).splitlines() if line.strip()]


def _words(post: QueryDict, path: str) -> list[str]:
    return as_words(_text(post, path))


def _labels(post: QueryDict, path: str) -> list[dict[str, str]]:
    pairs = [line.partition(":") for line in _lines(post, path)]
    return [{"key": key.strip(), "label": label.strip() or key.strip()} for key, _, label in pairs]


def _dataset_counts(post: QueryDict, path: str) -> list[dict[str, Any]]:
    names = _all(post, f"{path}.name")
    counts = [as_number(count) for count in _all(post, f"{path}.dialogs")]
    even_by, ids = ([*_all(post, f"{path}.{more}"), *[""] * len(names)] for more in ("even_by", "ids"))
    found = []
    for name, count, label, text in zip(names, counts, even_by, ids, strict=False):
        listed = [line.strip() for line in text.splitlines() if line.strip()]
        asked = len(listed) if listed and count in ("", 0) else count
        if asked not in ("", 0):
            further = {"even_by": label, "ids": listed}
            found.append({"name": name, "dialogs": asked} | {key: value for key, value in further.items() if value})
    return found


def _warm_up_replies(post: QueryDict, path: str, fitting: str) -> list[dict[str, Any]]:
    columns = [_all(post, f"{path}.{name}") for name in ("text", fitting, "praise", "hint")]
    replies = [
        {"text": text.strip(), fitting: as_words(fits), "praise": praise.strip(), "hint": hint.strip()}
        for text, fits, praise, hint in zip(*columns, strict=False)
        if text.strip()
    ]
    return [{name: value for name, value in reply.items() if value} for reply in replies]


def _screening(post: QueryDict, path: str) -> list[dict[str, Any]]:
    rules = []
    for rule in _all(post, path):
        names = [key.removeprefix(f"{path}.{rule}.") for key in post if key.startswith(f"{path}.{rule}.")]
        rules.append({"rule": rule, **{name: _number(post, f"{path}.{rule}.{name}") for name in sorted(names)}})
    return rules


def _flag(post: QueryDict, path: str) -> bool:
    return path in post


def _pairs(post: QueryDict, path: str) -> list[list[str]]:
    """Read pairs of names, each sent as JSON: names may contain any character."""
    pairs = []
    for text in _all(post, path):
        with suppress(ValueError):
            pair = json.loads(text)
            if isinstance(pair, list):
                pairs.append([str(name) for name in pair])
    return pairs


WRITERS: dict[str, Callable[[list[Any]], str]] = {
    "words": lambda value: ", ".join(map(str, value)),
    "lines": lambda value: "\n".join(map(str, value)),
    "labels": lambda value: "\n".join(f"{one.get('key', '')}: {one.get('label', '')}" for one in value),
}

READERS: dict[str, Reader] = {
    "text": _text,
    "markdown": _text,
    "number": _number,
    "money": _text,
    "choice": _text,
    "many": _all,
    "lines": _lines,
    "words": _words,
    "labels": _labels,
    "dataset_counts": _dataset_counts,
    "screening": _screening,
    "flag": _flag,
    "pairs": _pairs,
    "filters": read_filters,
}
