"""Writes the Human Evaluation Datasheet (HEDS 3.0) in Markdown, and as JSON that its public form loads.

Questions are in words of our own (heds_questions), answers come from heds_answers. The form keeps an object for each of
its elements: {"data": {criterion, or "": value}, "control": {}, "number": "3.2.1"}, and of a chosen option its text as
well. What the researchers must answer is left out there, and the form itself marks it as missing.
"""

import json
from collections.abc import Iterator
from typing import Any

from hits.analysing import CriterionResults, describe_origin
from hits.exporting.bundle_facts import Sources
from hits.exporting.heds_answers import Answer, answers_of, criterion_answers
from hits.exporting.heds_questions import CRITERION_ELEMENT, QUESTIONS, SECTIONS, Question
from hits.exporting.to_fill_in import PLAIN_TO_FILL_IN, TO_FILL_IN
from hits.protocols import protocol_of

HEAD = f"""# Human Evaluation Datasheet

The numbers are those of HEDS 3.0 (Belz and Thomson 2024, https://arxiv.org/abs/2412.07940), the questions in words of
our own. heds.json has the same answers for the form at https://nlp-heds.github.io (upload json). The platform has
answered what it knows; what only the researchers know says {TO_FILL_IN}, and the form shows it as
missing.
"""


def datasheet(sources: Sources) -> str:
    warning = describe_origin(sources.results.origin)
    lines = [HEAD, *([f"**{warning}**\n"] if warning else [])]
    known = answers_of(sources)
    by_criterion = _by_criterion(sources)
    still_open = [
        *(number for number, answer in known.items() if answer.is_open),
        *(number for number, answer in next(iter(by_criterion.values())).items() if answer.is_open),
    ]
    mapped = f"The elements of all {len(QUESTIONS)} questions in the form are known: none is left out of heds.json"
    lines.append(f"{mapped} but those that are open: {', '.join(sorted(still_open, key=_order))}.\n")
    for title, beginning in SECTIONS.items():
        lines.append(f"## {title}\n")
        questions = [one for number, one in QUESTIONS.items() if number.startswith(beginning)]
        if beginning != "4.":
            lines += [_told(one, known[one.number]) for one in questions]
            continue
        for name, answers in by_criterion.items():
            lines += [f"### {name}\n", *(_told(one, answers[one.number]) for one in questions)]
    return "\n".join(lines)


def heds_json(sources: Sources) -> str:
    """Write what the form at nlp-heds.github.io loads."""
    elements: dict[str, Any] = {}
    for number, answer in answers_of(sources).items():
        _put(elements, QUESTIONS[number], "", answer)
    by_criterion = _by_criterion(sources)
    first = next(iter(by_criterion))
    elements[CRITERION_ELEMENT] = {"data": {}, "control": {name: name == first for name in by_criterion}, "text": {}}
    for name, answers in by_criterion.items():
        for number, answer in answers.items():
            _put(elements, QUESTIONS[number], name, answer)
    return json.dumps(elements, indent=1, ensure_ascii=False) + "\n"


def _by_criterion(sources: Sources) -> dict[str, dict[str, Answer]]:
    found: dict[str, CriterionResults] = {one.criterion: one for one in sources.results.criteria}
    asked = protocol_of(sources.design).criteria
    return {one.title: criterion_answers(sources, one, found.get(one.name)) for one in asked}


def _put(elements: dict[str, Any], question: Question, key: str, answer: Answer) -> None:
    """Put an answer where the form looks for it, under the criterion's name in section 4. Options have an element each,
    and words beside them one more."""
    if question.options:
        for place in answer.chosen:
            one = elements.setdefault(f"{question.element}-{place}", _element(question, has_text=True))
            one["data"][key], one["text"][key] = True, question.options[place]
        if answer.chosen:
            elements.setdefault(f"{question.element}-other_text", _element(question))["data"][key] = answer.text
    elif answer.text:
        to_do = f" {PLAIN_TO_FILL_IN}" if answer.is_open else ""
        elements.setdefault(question.element, _element(question))["data"][key] = f"{answer.text}{to_do}"


def _element(question: Question, has_text: bool = False) -> dict[str, Any]:
    return {"data": {}, "control": {}, **({"text": {}} if has_text else {}), "number": question.number}


def _told(question: Question, answer: Answer) -> str:
    return f"**{question.number} {question.asked}**\n\n{' '.join(_parts(question, answer))}\n"


def _parts(question: Question, answer: Answer) -> Iterator[str]:
    chosen = [question.options[place].partition(". ")[2].rstrip(".") for place in answer.chosen]
    if chosen:
        yield f"*{'; '.join(chosen)}.*"
    if answer.text:
        yield _quoted(answer.text) if "\n" in answer.text else answer.text
    if answer.is_open:
        yield TO_FILL_IN
    if answer.hint:
        yield f"({answer.hint})"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _order(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]
