"""Answers the questions of HEDS 3.0 as far as the platform knows: what only the researchers know stays open."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evalplatform.wording import count_of
from hits.analysing import CriterionResults
from hits.exporting.analysis_methods import describe_findings
from hits.exporting.bundle_facts import MoneyMoves, Sources, join_names
from hits.exporting.heds_questions import LANGUAGES, OTHER_LANGUAGE
from hits.exporting.methods import describe_drawing, dialogs_by_dataset, how_replies_were_shown
from hits.exporting.pay_words import is_unpaid
from hits.exporting.power_words import describe_power, what_decides
from hits.exporting.quality_methods import describe_exclusions
from hits.exporting.raters import MIXED, NOBODY, describe_no_raters, name_countries, recruiting
from hits.exporting.worker_names import prose
from hits.protocols import Criterion, Presented, Protocol, protocol_of
from hits.stats import Estimate, Undefined

NOT_ASSESSED = "IntraAA not assessed"  # the form's own words
# The option of 4.3.5 for each kind of instrument.
OPTIONS = {Presented.MULTIPLE_CHOICE: 1, Presented.CHECK_BOXES: 2, Presented.SLIDER: 3, Presented.OTHER: 5}


@dataclass(frozen=True)
class Answer:
    """`text` is what the platform knows. `chosen` are the places of the options that apply. `is_open` says that the
    researchers must answer, or add something: `hint` tells what."""

    text: str = ""
    chosen: tuple[int, ...] = ()
    is_open: bool = False
    hint: str = ""


def answers_of(sources: Sources) -> dict[str, Answer]:
    """Return the answers of all sections but the fourth, by number."""
    return dict([*_paper(sources), *_systems(sources), *_sample(sources), *_evaluators(sources), *_design(sources),
                 *_ethics()])  # fmt: skip


Answers = Iterator[tuple[str, Answer]]


def _paper(sources: Sources) -> Answers:
    design = sources.design
    criteria = join_names([one.title for one in protocol_of(design).criteria])
    datasets = join_names([part.name for part in design.datasets])
    yield "1.1.1", Answer(is_open=True, hint="the address of the paper")
    warning = f"{sources.results.origin.warning}. " if sources.results.origin.warning else ""
    about = f"{warning}The study {design.name}: {join_names(design.generators)} on {datasets}; criteria: {criteria}."
    yield "1.1.2", Answer(about, is_open=True, hint="section and table of the paper")
    yield "1.2", Answer(is_open=True, hint="where this bundle is published")
    for number in ("1.3.1", "1.3.2"):
        for part in range(1, 4):
            yield f"{number}.{part}", Answer(is_open=True)


def _systems(sources: Sources) -> Answers:
    language = sources.design.task.language
    place, _ = LANGUAGES.get(language.split("-")[0], OTHER_LANGUAGE)
    yield "2.1", Answer("A dialogue.", (8,))
    yield "2.2", Answer("One turn of a dialogue, of one or more sentences.", (9,))
    yield "2.3", Answer(f"Replying to a dialogue, by {join_names(sources.design.generators)}.", (10,))
    for number in ("2.4", "2.5"):
        yield number, Answer(f"{language}, as the design says of the study's texts and dialogs.", (place,))


def _sample(sources: Sources) -> Answers:
    rated, facts, design = sources.results.main.size.dialogs, sources.facts, sources.design
    counts = dialogs_by_dataset(sources)
    designed = "" if rated == facts.dialogs else f" The design had {facts.dialogs:,} dialogs."
    yield "3.1.1", Answer(f"{_count_outputs(sources, counts)}{designed}")
    several = len(design.datasets) > 1
    shown = protocol_of(design).which_were_shown() or "each system's output for a chosen dialog was evaluated"
    yield (
        "3.1.2",
        Answer(
            f"The dialogs were {describe_drawing(design)}; {shown}.",
            (2,) if several or any(part.even_by for part in design.datasets) else (1,),
        ),
    )
    power = facts.power
    if power.planned is None:
        for part in range(1, 4):
            yield f"3.1.3.{part}", Answer(f"N/A: {power.problem}.")
        return
    software = f"EvalPlatform {facts.software['evalplatform']}"
    yield (
        "3.1.3.1",
        Answer(
            f"Simulation with {what_decides(power)} (ordinal probit model with crossed effects of dialogs, replies and "
            f"evaluators; {power.simulations:,} simulated studies)."
        ),
    )
    yield "3.1.3.2", Answer(prose(sources, describe_power(sources)))
    where = f"hits/stats/power.py of {software}; the command plan_study runs it."
    yield "3.1.3.3", Answer(where, is_open=True, hint="its address")


def _count_outputs(sources: Sources, counts: str) -> str:
    """Say how many outputs of each system were evaluated."""
    main = sources.results.main
    protocol = protocol_of(sources.design)
    if not protocol.which_were_shown():
        return f"{main.size.dialogs:,}: one for each dialog with ratings that count ({counts})."
    whole = None if len(main.datasets) > 1 else main.datasets[0] if main.datasets else None
    rows = [row for row in main.table if row.dataset == whole and row.generator is not None]
    outputs = join_names([f"{row.dialogs:,} of {row.generator}" for row in rows])
    how = "compared with another system's" if main.is_comparison else "rated"
    human = ", beside those that were compared with a human reply only" if _has_human_opponents(sources) else ""
    dialogs = count_of(main.size.dialogs, "dialog")
    return f"{outputs} were {how}{human}. {dialogs} have ratings that count ({counts})."


def _has_human_opponents(sources: Sources) -> bool:
    return sources.results.main.is_comparison and sources.results.main.size.human_ratings > 0


def _evaluators(sources: Sources) -> Answers:
    yield from _people(sources) if sources.is_from_people else _no_people(sources)
    replies = count_of(len(sources.design.warm_up.replies), "reply", "replies")
    yield (
        "3.2.4",
        Answer(
            f"Written instructions, and a warm-up dialog with {replies} that comments on each choice (worker_pages/)."
        ),
    )


def _people(sources: Sources) -> Answers:
    crowd, facts = sources.design.crowd, sources.facts
    yield "3.2.1", Answer(f"{sources.results.main.size.workers}")
    yield "3.2.2.1", Answer("They were not chosen for any expertise.", (2,))
    yield "3.2.2.2", _payment(sources)
    yield "3.2.2.3", Answer(is_open=True)
    yield "3.2.2.4", Answer(is_open=True)
    most = f"{count_of(crowd.max_hits_per_worker, 'assignment')} each at most."
    is_open = not facts.is_hired_there
    places = join_names([one.facts.place for one in sources.parts])
    told = (
        f"They did the tasks on {places}."
        if is_open
        else " ".join(prose(one, [recruiting(one)]) for one in sources.parts)
    )
    yield "3.2.3", Answer(f"{told} {most}", is_open=is_open, hint="how you found them" if is_open else "")
    located = f"They were located in {name_countries(crowd.countries, 'or')}, as the crowd says. "
    known = located if facts.has_qualifications and crowd.countries else ""
    yield (
        "3.2.5",
        Answer(f"{known}The platform asks for nothing more.", is_open=True, hint="demographics, if you asked for them"),
    )


def _payment(sources: Sources) -> Answer:
    if is_unpaid(sources):
        return Answer("The study paid nothing.", (3,), hint="unless who sent them gave credit")
    if len({one.facts.money for one in sources.parts}) > 1:
        return Answer("participants.md has what was paid, or due, in each offering.", is_open=True)
    if sources.facts.money is MoneyMoves.THERE:
        return Answer("participants.md has what was paid.", (1,))
    return Answer("No money went through the platform; participants.md has what was due.", is_open=True)


def _no_people(sources: Sources) -> Answers:
    said = " ".join(sentence for one in sources.parts for sentence in describe_no_raters(one))
    has_people = bool(sources.results.origin.people)
    yield "3.2.1", Answer("N/A" if has_people else "0", hint=said)
    for number, place in (("3.2.2.1", 3), ("3.2.2.2", 4), ("3.2.2.3", 3), ("3.2.2.4", 3)):
        yield number, Answer(said if number == "3.2.2.1" else MIXED if has_people else NOBODY, (place,))
    yield "3.2.3", Answer(f"N/A: {said}")
    yield "3.2.5", Answer("N/A: see 3.2.3.")


def _design(sources: Sources) -> Answers:
    design = sources.design
    frozen = (
        f"The design, the dialogs, the replies, the primary outcome and the exclusion rules were frozen before "
        f"publication (SHA-256 {sources.manifest_sha256})."
    )
    yield "3.3.1", Answer(frozen, is_open=True, hint="yes, with a link, or no")
    frame = ", shown inside the marketplace's frame" if sources.facts.is_framed else ""
    yield "3.3.2", Answer(f"The web page of EvalPlatform{frame}.")
    yield from _quality_assurance(sources)
    yield "3.3.4.1", Answer("worker_pages/ in this bundle.", is_open=True, hint="its address")
    yield (
        "3.3.4.2",
        Answer(
            f"The dialog, the replies without their systems' names, the question and the scale; the instructions can "
            f"be opened again on every page. {how_replies_were_shown(sources)}"
        ),
    )
    limit = count_of(design.crowd.time_limit_minutes, "minute")
    free = f"They work when they like, within {limit} after accepting; answers are kept if the page is closed."
    yield "3.3.5", Answer(free, (3,))
    yield "3.3.6", Answer("The first page says whom to ask, and the last one has a box for feedback.", (2, 3))
    yield "3.3.7", Answer("Not controlled.", (1,))
    yield (
        "3.3.8",
        Answer(
            "Place, device, browser and time of day are the evaluators' own. They see different dialogs, and the order "
            "of the replies changes between evaluators."
        ),
    )


def _quality_assurance(sources: Sources) -> Answers:
    rules, checkpoints = sources.rules, sources.design.checkpoints
    of_workers = [rule.excluded().startswith("all work") for rule in rules]
    chosen = (
        *((2,) if rules or checkpoints.per_hit or checkpoints.controls else ()),
        *((4,) if any(of_workers) else ()),
        *((5,) if rules and not all(of_workers) else ()),
    )
    yield "3.3.3.1", Answer("The next answer says which.", chosen) if chosen else Answer("None was used.", (7,))
    yield "3.3.3.2", Answer(prose(sources, describe_exclusions(sources)) if chosen else "N/A")


def _ethics() -> Answers:
    yield "5.1", Answer(is_open=True)
    hint = "say so of dialogs and replies. This bundle has pseudonyms; the marketplace's ids stay with the platform"
    yield "5.2", Answer(is_open=True, hint=hint)
    yield "5.3", Answer(is_open=True)
    yield "5.4", Answer(is_open=True)


# --- Section 4 --------------------------------------------------------------------------------------------------------


def criterion_answers(sources: Sources, asked: Criterion, found: CriterionResults | None) -> dict[str, Answer]:
    """Answer section 4 for one criterion. `found` is None if nobody rated it."""
    protocol, task = protocol_of(sources.design), sources.design.task
    is_relative = protocol.is_side_by_side or asked.is_comparison
    hint = "the question that evaluators read is under 4.3.7"
    instrument = protocol.instrument()
    questions = dict.fromkeys([task.question, *([asked.question] if asked.question else [])])
    answers = {
        "4.1.1": Answer(is_open=True, hint=hint),
        "4.1.2": Answer(is_open=True, hint=hint),
        "4.1.3": Answer(is_open=True, hint=hint),
        "4.2.1": Answer("Evaluators give their opinion.", (2,)),
        "4.2.2": Answer(_relative(asked, protocol.is_side_by_side), (2,) if is_relative else (1,)),
        "4.2.3": Answer("Nothing outside of the replies is measured.", (1,)),
        "4.3.1.1": Answer(asked.label or ("no name given" if len(protocol.criteria) == 1 else asked.name)),
        "4.3.1.2": Answer(is_open=True),
        "4.3.2": Answer(f"The instructions, verbatim:\n\n{task.instructions}"),
        "4.3.3": Answer(str(len(asked.scale.values))),
        "4.3.4": Answer(_values(asked)),
        "4.3.5": Answer(instrument.described, (OPTIONS[instrument.kind],)),
        "4.3.6": Answer("N/A"),
        "4.3.7": Answer("\n".join(questions)),
        "4.3.8": Answer(_form(protocol, asked), (3,) if asked.is_comparison or protocol.puts_in_order else (2,)),
        "4.3.9": Answer(
            "Shares of each value and mean scores for each dataset and system, over all ratings that count; a ranking "
            "by paired comparisons (results.json, tables/)."
            if not asked.is_comparison
            else "Shares of wins, ties and losses for each dataset and system; a ranking (results.json, tables/)."
        ),
        "4.3.10": Answer(prose(sources, describe_findings(sources))),
        **_agreement(found),
        "4.3.12.1": Answer(NOT_ASSESSED),
        "4.3.12.2": Answer(NOT_ASSESSED),
    }
    return answers


def _relative(asked: Criterion, is_side_by_side: bool) -> str:
    if asked.is_comparison:
        return "Two replies to a dialog are compared."
    return "The replies of all systems are seen side by side." if is_side_by_side else "Each reply is judged by itself."


def _form(protocol: Protocol[Any], asked: Criterion) -> str:
    if asked.is_comparison:
        return "Which of two replies is better."
    if protocol.puts_in_order:
        return "Which of several replies are better than the others."
    return "Several replies side by side." if protocol.is_side_by_side else "One reply at a time."


def _values(one: Criterion) -> str:
    """Name the values; of a long scale, only its ends."""
    labels = one.scale.labels
    return f"{labels[-1]} to {labels[0]}" if one.measured.bins else ", ".join(labels)


def _agreement(found: CriterionResults | None) -> dict[str, Answer]:
    if found is None or not found.agreement:
        return {number: Answer("InterAA not assessed") for number in ("4.3.11.1", "4.3.11.2")}
    names = {
        **({"alpha_interval": "Krippendorff's alpha (interval)"} if found.is_by_mean else {}),
        "alpha_ordinal": "Krippendorff's alpha (ordinal)",
        "fleiss_kappa": "Fleiss' kappa",
        "raw": "raw agreement",
    }
    return {
        "4.3.11.1": Answer(f"{join_names(list(names.values()))}, on the same replies, after exclusions."),
        "4.3.11.2": Answer("; ".join(f"{name} {_number(found, field)}" for field, name in names.items())),
    }


def _number(found: CriterionResults, field: str) -> str:
    value: Estimate | Undefined = getattr(found.agreement[0], field)
    return f"undefined: {value.reason}" if isinstance(value, Undefined) else f"{value.value:.3f}"
