"""Writes what a human evaluation must answer in ARR's responsible research checklist, as far as it is known.

The numbers are the checklist's (sections B, C and D); the questions are in words of our own.
"""

from collections.abc import Iterator

from hits.analysing import describe_origin
from hits.exporting.bundle_facts import Sources, join_names
from hits.exporting.methods import dialogs_by_dataset
from hits.exporting.pay_words import describe_pay, hourly, is_unpaid
from hits.exporting.raters import describe_no_raters, name_countries, recruiting, wishes
from hits.exporting.to_fill_in import TO_FILL_IN
from hits.exporting.worker_names import prose

HEAD = f"""# Responsible research checklist (ARR): what this study can answer

Copy what helps into the form; what only the authors know says {TO_FILL_IN}.
"""


def research_checklist(sources: Sources) -> str:
    warning = describe_origin(sources.results.origin)
    lines = [HEAD, *([f"**{warning}**\n"] if warning else [])]
    for title, questions in (
        ("B Scientific artifacts", _artifacts(sources)),
        ("C Computational experiments", _experiments(sources)),
        ("D Human annotators", _annotators(sources)),
    ):
        lines.append(f"## {title}\n")
        lines += [f"**{number} {question}**\n\n{answer}\n" for number, question, answer in questions]
    return "\n".join(lines)


Questions = Iterator[tuple[str, str, str]]


def _artifacts(sources: Sources) -> Questions:
    names = join_names([part.name for part in sources.design.datasets])
    models = join_names(sources.design.generators)
    yield "B1", "Are the creators of artifacts cited?", f"Datasets: {names}. Models: {models}. Citations: {TO_FILL_IN}"
    yield "B2", "Licences and terms of use", f"Of the datasets, the models and this bundle: {TO_FILL_IN}"
    yield "B3", "Is the use as intended?", TO_FILL_IN
    yield (
        *("B4", "Personal data and offensive content"),
        "The bundle has no worker's own id: workers have pseudonyms that were made for it. In dialogs and replies: "
        f"{TO_FILL_IN}",
    )
    language = sources.design.task.language
    yield "B5", "Documentation of artifacts", f"README.md, datasheet.md. Language: {language}. Domains: {TO_FILL_IN}"
    size = sources.results.main.size
    counts = dialogs_by_dataset(sources)
    yield (
        *("B6", "Statistics of the data"),
        f"{size.dialogs:,} dialogs with ratings that count ({counts}); {size.ratings:,} ratings of models' replies "
        f"and {size.human_ratings:,} of human ones{_for_each(sources)}. The tables have the number of ratings of each "
        "row.",
    )


def _for_each(sources: Sources) -> str:
    first, *others = sources.results.criteria
    return f" for the criterion {first.title} (results.json has the others)" if others else ""


def _experiments(sources: Sources) -> Questions:
    yield (
        *("C3", "Descriptive statistics: error bars, and of what?"),
        "95% confidence intervals over dialogs and workers (two-way cluster-robust), of one study; methods.md has the "
        "paragraph on the analysis, and participants.md the exclusions.",
    )
    versions = join_names([f"{name} {number}" for name, number in sources.facts.software.items()])
    yield "C4", "Packages and their settings", f"{versions}; seed of the analysis {sources.results.seed}."


def _annotators(sources: Sources) -> Questions:
    yield (
        *("D1", "Full text of instructions, screenshots, risks"),
        "worker_pages/ has the page of each step (pages.md lists them); the texts are also in manifest.jsonl "
        f"(design.task). Risks to participants: {TO_FILL_IN}",
    )
    yield from _people(sources) if sources.is_from_people else _no_people(sources)


def _no_people(sources: Sources) -> Questions:
    told = [sentence for one in sources.parts for sentence in describe_no_raters(one)]
    yield "D2", "Recruitment and payment", f"N/A: {' '.join(told)}"
    yield "D3", "Consent", "N/A: see D2. participants.md has the text of the design."
    yield "D4", "Ethics board", TO_FILL_IN
    yield "D5", "Demographics and geography", "N/A: see D2."


def _people(sources: Sources) -> Questions:
    facts, crowd, consent = sources.facts, sources.design.crowd, sources.facts.consent
    yield (
        *("D2", "Recruitment and payment, and whether it is adequate where participants live"),
        "\n\n".join(map(_recruitment_and_pay, sources.parts)),
    )
    yield (
        *("D3", "Consent, and what participants were told about the use of their data"),
        f"{consent.agreements:,} of {facts.submissions:,} assignments began with an agreement to the text in "
        f"participants.md (version {consent.version[:12]}).",
    )
    yield "D4", "Ethics board", TO_FILL_IN
    located = crowd.countries and all(map(wishes, sources.parts))
    where = f"They had to be located in {name_countries(crowd.countries, 'or')}. " if located else ""
    more = "participants.md lists further filters. " if crowd.options else ""
    yield (
        *("D5", "Demographics and geography"),
        f"{where}{more}The platform asks for no demographics: {TO_FILL_IN}",
    )


def _recruitment_and_pay(sources: Sources) -> str:
    facts = sources.facts
    where = f"{facts.marketplace}: " if sources.results.offerings else ""
    worth = hourly(sources, facts.minutes) if facts.minutes else "too few assignments were handed in to say per hour"
    adequate = "" if is_unpaid(sources) else f" At the median time, {worth}. Whether that is adequate: {TO_FILL_IN}"
    told = [f"{where}{facts.workers:,} workers took part. {recruiting(sources)}", *describe_pay(sources)]
    return prose(sources, told) + adequate
