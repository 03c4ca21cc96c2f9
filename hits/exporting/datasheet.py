"""Writes the bundle's Human Evaluation Datasheet, as far as the platform knows the answers.

The questions are those of Shimorina and Belz (2022, "The Human Evaluation Datasheet") by number, in words of our own;
those that only the researcher can answer are marked.
"""

from collections.abc import Callable, Iterator, Sequence

from evalplatform.wording import count_of
from hits.analysing import describe_origin
from hits.exporting.bundle_facts import Facts
from hits.exporting.methods import how_replies_were_shown, methods_paragraph
from hits.exporting.origin_methods import describe_raters
from hits.protocols import Criterion, protocol_of
from hits.stats import Estimate, Undefined

TO_FILL_IN = "**[to be filled in by the researchers]**"
HEAD = f"""# Human Evaluation Datasheet

The numbers are those of HEDS (Shimorina and Belz 2022, https://aclanthology.org/2022.humeval-1.6). The platform has
answered what it knows. What it does not know says {TO_FILL_IN}, with a hint where one helps.
"""


def datasheet(facts: Facts) -> str:
    warning = describe_origin(facts.results.origin)
    lines = [HEAD, *([f"**{warning}**\n"] if warning else [])]
    for title, questions in _sections(facts):
        lines.append(f"## {title}\n")
        lines += [f"**{number} {question}**\n\n{answer}\n" for number, question, answer in questions]
    return "\n".join(lines)


Questions = Iterator[tuple[str, str, str]]


def _sections(facts: Facts) -> Iterator[tuple[str, Questions]]:
    yield "1 Paper and resources", _paper()
    yield "2 Systems", _systems(facts)
    yield "3.1 Sample of outputs", _sample(facts)
    yield "3.2 Evaluators", _evaluators(facts)
    yield "3.3 Experimental design", _design(facts)
    yield "4.1 and 4.2 Quality criterion and mode", _criterion(facts)
    yield "4.3 Response elicitation", _elicitation(facts)
    yield "5 Ethics", _ethics(facts)


def _paper() -> Questions:
    yield "1.1", "Paper that reports the experiment", TO_FILL_IN
    yield "1.2", "Resources", f"This bundle; a link to where it is published: {TO_FILL_IN}"
    yield "1.3", "Who fills this in, and whom to contact", TO_FILL_IN


def _systems(facts: Facts) -> Questions:
    yield "2.1", "Type of input", "text: dialogue"
    yield "2.2", "Type of output", "text: one turn of a dialogue (which kind of text exactly: " + TO_FILL_IN + ")"
    yield "2.3", "Task", "dialogue turn generation, by " + ", ".join(facts.design.generators)
    yield "2.4", "Language of the input", TO_FILL_IN
    yield "2.5", "Language of the output", TO_FILL_IN


def _sample(facts: Facts) -> Questions:
    datasets = ", ".join(f"{part.dialog_count:,} of {part.name}" for part in facts.design.datasets)
    rated = facts.results.main.size.dialogs
    yield (
        *("3.1.1", "Outputs evaluated per system"),
        f"{rated:,}: one for each dialog with ratings that count. The study was designed for {facts.dialogs:,} "
        f"dialogs ({datasets}).",
    )
    yield (
        *("3.1.2", "How they were selected"),
        f"by an automatic random process from a larger set, within each dataset (seed {facts.design.seed}). How the "
        f"datasets themselves were made: {TO_FILL_IN}",
    )
    yield "3.1.3", "Statistical power", f"{TO_FILL_IN} The command `plan_study` computes it."


def _evaluators(facts: Facts) -> Questions:
    crowd = facts.design.crowd
    if not facts.results.origin.is_from_people:
        yield "3.2.1", "How many evaluators", " ".join(describe_raters(facts))
        for number, question in (("3.2.2", "What kind of evaluators"), ("3.2.3", "How they were recruited")):
            yield number, question, "N/A: see 3.2.1."
        yield from _training(facts)
        return
    yield (
        "3.2.1",
        "How many evaluators",
        f"{facts.workers:,}, of whom the results count {facts.results.main.size.workers:,}",
    )
    yield (
        *("3.2.2", "What kind of evaluators"),
        f"crowd workers of the {facts.marketplace} marketplace, paid; not experts, and not chosen by the authors. "
        f"Whether authors or acquaintances took part: {TO_FILL_IN}",
    )
    countries = ", ".join(crowd.countries) or "anywhere"
    yield (
        *("3.2.3", "How they were recruited"),
        f"through the marketplace, open to workers from: {countries}; at least {crowd.min_approved:,} approved HITs "
        f"and an approval rate of at least {crowd.min_approval_percent} %; "
        f"at most {count_of(crowd.max_hits_per_worker, 'HIT')} each",
    )
    yield from _training(facts)


def _training(facts: Facts) -> Questions:
    replies = len(facts.design.warm_up.replies)
    yield (
        *("3.2.4", "Training"),
        f"instructions, and a warm-up dialog with {count_of(replies, 'reply', 'replies')} and comments on the choices",
    )
    yield "3.2.5", "Other characteristics of the evaluators", f"Not asked by the platform. {TO_FILL_IN}"


def _design(facts: Facts) -> Questions:
    design = facts.design
    yield (
        *("3.3.1", "Preregistered?"),
        f"{TO_FILL_IN} The design, the dialogs, the replies and the screening rules were frozen before publication; "
        f"the manifest's SHA-256 is {facts.manifest_sha256}.",
    )
    yield "3.3.2", "How responses are collected", "with EvalPlatform's own page, inside the marketplace's frame"
    rules = ", ".join(rule["rule"] for rule in facts.run.rules) if facts.run else "none"
    yield (
        *("3.3.3", "Quality assurance"),
        f"{design.checkpoints.per_hit} checkpoints with a hidden human reply in each HIT; screening rules: "
        f"{rules or 'none'} (funnel.txt)",
    )
    yield (
        *("3.3.4", "What evaluators see"),
        f"All texts are in manifest.jsonl, under design.task and design.warm_up. {how_replies_were_shown(facts)} A "
        f"screenshot: {TO_FILL_IN}",
    )
    yield (
        *("3.3.5", "How free evaluators are about when and how fast"),
        f"They work when they like, within {count_of(design.crowd.time_limit_minutes, 'minute')} after accepting; "
        f"answers are kept when the page is closed and opened again",
    )
    yield (
        *("3.3.6", "Are evaluators told they can ask, and give feedback?"),
        "They are given a contact in the instructions, and can write a comment with each HIT",
    )
    yield "3.3.7", "Conditions", "Not controlled: evaluators work in a place of their choice"


def _criterion(facts: Facts) -> Questions:
    side_by_side = "relative: the replies of all models to a dialog are seen side by side"
    if protocol_of(facts.design).criteria[0].is_comparison:
        side_by_side = "relative: two replies to a dialog are compared"
    hint = f"{TO_FILL_IN} The question that workers read is under 4.3.7."
    yield "4.1.1", "Correctness, goodness or a feature?", hint
    yield "4.1.2", "Form, content or both?", hint
    yield "4.1.3", "In its own right, relative to the input, or to something outside?", hint
    yield "4.2.1", "Objective or subjective?", "subjective"
    by_itself = "absolute: each reply is judged by itself"
    is_relative = protocol_of(facts.design).is_side_by_side
    yield "4.2.2", "Absolute or relative?", side_by_side if is_relative else by_itself
    yield "4.2.3", "Intrinsic or extrinsic?", "intrinsic"


def _elicitation(facts: Facts) -> Questions:
    task, protocol = facts.design.task, protocol_of(facts.design)
    criteria = protocol.criteria
    has_names = len(criteria) > 1 or bool(criteria[0].label)
    yield "4.3.1", "Name of the criterion", ", ".join(one.title for one in criteria) if has_names else TO_FILL_IN
    yield "4.3.2", "Definition given to evaluators", "In the instructions, verbatim:\n\n" + _quoted(task.instructions)
    yield "4.3.3", "Size of the scale", _each(criteria, lambda one: str(len(one.scale.values)))
    yield "4.3.4", "Its values", _each(criteria, _values)
    yield "4.3.5", "How it is presented", protocol.instrument()
    yield "4.3.6", "If there is no instrument: the task", "N/A"
    yield "4.3.7", "Question shown with each assessment", "Verbatim:\n\n" + _quoted(_questions(task.question, criteria))
    form = "direct quality estimation, of several replies side by side"
    if criteria[0].is_comparison:
        form = "relative quality estimation: which of two replies is better"
    elif not protocol.is_side_by_side:
        form = "direct quality estimation, of one reply at a time"
    yield "4.3.8", "Form of elicitation", form
    yield (
        *("4.3.9", "How responses are aggregated"),
        "shares of each value per dataset and model; mean scores; a Bradley-Terry ranking (results.json, tables/)",
    )
    yield (
        *("4.3.10", "Effect size and significance"),
        "probability of superiority and mean difference within worker and dialog, with intervals that respect that "
        "ratings of one dialog and of one worker belong together; permutation tests, corrected by Holm",
    )
    yield "4.3.11", "Agreement", _agreement(facts)


def _each(criteria: Sequence[Criterion], tell: Callable[[Criterion], str]) -> str:
    """Say something of each criterion; of a single one without its name."""
    if len(criteria) == 1:
        return tell(criteria[0])
    return "; ".join(f"{one.title}: {tell(one)}" for one in criteria)


def _values(one: Criterion) -> str:
    """Name the values; of a long scale, only its ends."""
    labels = one.scale.labels
    return f"{labels[-1]} to {labels[0]}" if one.measured.bins else ", ".join(labels)


def _questions(of_task: str, criteria: Sequence[Criterion]) -> str:
    return "\n".join(dict.fromkeys([of_task, *(one.question for one in criteria if one.question)]))


def _ethics(facts: Facts) -> Questions:
    yield "5.1", "Approved by an ethics committee?", TO_FILL_IN
    yield (
        *("5.2", "Personal data"),
        f"The marketplace's worker ids are kept by the platform and are not in this bundle, which has pseudonyms only. "
        f"In dialogs and replies: {TO_FILL_IN}",
    )
    yield "5.3", "Special categories of data", TO_FILL_IN
    yield "5.4", "Impact assessments", TO_FILL_IN
    yield "–", "For reference: what was done", methods_paragraph(facts)


def _agreement(facts: Facts) -> str:
    criteria = [one for one in facts.results.criteria if one.agreement]
    if not criteria:
        return "Not measured."
    points = {"alpha_interval": "Krippendorff's alpha, interval"}
    names = {"alpha_ordinal": "Krippendorff's alpha, ordinal", "fleiss_kappa": "Fleiss' kappa", "raw": "raw agreement"}
    told = []
    for one in criteria:
        about = f"{one.criterion}: " if len(criteria) > 1 else ""
        for field, name in ((points | names) if one.is_by_mean else names).items():
            value: Estimate | Undefined = getattr(one.agreement[0], field)
            number = "undefined: " + value.reason if isinstance(value, Undefined) else f"{value.value:.3f}"
            told.append(f"{about}{name} {number}")
    return f"Between evaluators: {'; '.join(told)}. Within evaluators: not measured."


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
