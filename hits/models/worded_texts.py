"""Says the default texts of a study in the words of the crowd that it is meant for (hits/crowds/crowd_words.py).

A default text is written as a template, `worded("In this {hit} ...")`, and is a setting's default as the usual crowd's
workers read it. A design that is meant for another crowd gets the same text in other words, unless it has its own.
Studies keep their texts once their HITs are built.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

USUAL_CROWD = "mturk"  # a design that names no crowd is meant for this one

USUAL = {
    "hit": "HIT",
    "worker": "worker",
    "until_confirmed": "until the marketplace has confirmed your work",
    "may_stop": "you may return the HIT at any time, and returning does not count against you",
    "where": "through the marketplace's contact form",
}
# With the crowd's own words for a HIT and a worker.
ELSEWHERE = {
    "until_confirmed": "until your work is confirmed",
    "may_stop": "you may stop at any time, and stopping does not count against you",
    "where": "where you found this study",
}

WordsOf = Callable[[str], Any]

_templates: dict[str, str] = {}  # by the text that the usual crowd's workers read
_words_of: list[WordsOf] = []


def worded(template: str) -> str:
    """Return a default text as the usual crowd's workers read it, and remember how others would."""
    text = template.format_map(USUAL)
    _templates[text] = template
    return text


def take_words_from(words_of: WordsOf) -> None:
    """Name the function that returns a crowd's `CrowdWords` by its name, or None. Models know no crowds."""
    _words_of[:] = [words_of]


def default_texts(task: type[BaseModel], crowd: Any) -> dict[str, str]:
    """Return the defaults of a task that depend on the crowd, in its words; nothing if nobody knows that crowd."""
    words = None
    if crowd != USUAL_CROWD and isinstance(crowd, str):
        words = next((words_of(crowd) for words_of in _words_of), None)
        if words is None:
            return {}
    said: Mapping[str, str] = USUAL if words is None else {**ELSEWHERE, **vars(words)}
    templates = {name: _templates.get(str(field.default)) for name, field in task.model_fields.items()}
    return {name: template.format_map(said) for name, template in templates.items() if template is not None}
