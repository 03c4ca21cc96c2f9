"""Writes the methods section from what really happened, in paragraphs: material, raters, quality control, analysis.

Its numbers come from the database (facts.json), the frozen design and the results. The analysis has a file of its own
(analysis_methods), and so have those who rated (raters) and the quality of their work (quality_methods).
"""

from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.exporting.analysis_methods import describe_analysis
from hits.exporting.bundle_facts import Facts, Sources, join_names
from hits.exporting.citations import bibliography, cite_in_latex, cite_in_markdown
from hits.exporting.latex import escape
from hits.exporting.quality_methods import describe_agreement, describe_exclusions
from hits.exporting.raters import describe_raters
from hits.exporting.worker_names import name_workers
from hits.models.design import StudyDesign
from hits.protocols import protocol_of

SMALL_NUMBERS = dict(enumerate("one two three four five six seven eight nine ten".split(), start=1))


def methods_markdown(sources: Sources) -> str:
    warning = sources.results.origin.warning
    head = f"# Methods\n\n**{warning}.**\n" if warning else "# Methods\n"
    told = [f"\n**{title}.** {cite_in_markdown(text)}\n" for title, text in methods_paragraphs(sources).items()]
    return head + "".join(told)


def methods_latex(sources: Sources) -> str:
    """Write paragraphs for a paper that loads natbib, as the ACL's style does; methods.bib has what they cite."""
    warning = sources.results.origin.warning
    head = [f"% {warning}", rf"\textbf{{{escape(warning)}.}}", ""] if warning else []
    told = [f"\\paragraph{{{title}.}}\n{cite_in_latex(text)}\n" for title, text in methods_paragraphs(sources).items()]
    return "\n".join([*head, *told])


def methods_bibliography(sources: Sources) -> str:
    warning = sources.results.origin.warning
    head = f"% {warning}\n\n" if warning else ""  # BibTeX passes over what stands between entries
    return head + bibliography(" ".join(methods_paragraphs(sources).values()))


def methods_paragraphs(sources: Sources) -> dict[str, str]:
    parts = {
        "Material and task": (_material, _task),
        "Raters": (describe_raters,),
        "Quality control": (describe_exclusions, describe_agreement),
        "Statistical analysis": (describe_analysis,),
        "Software": (_software,),
    }
    return {
        title: name_workers(" ".join(sentence for part in some for sentence in part(sources)), sources)
        for title, some in parts.items()
    }


# --- Material and task ------------------------------------------------------------------------------------------------


def _material(sources: Sources) -> Iterator[str]:
    design, rated = sources.design, sources.results.main.size.dialogs
    number = len(design.generators)
    models = f"{SMALL_NUMBERS.get(number, number)} model{'s' if number > 1 else ''} ({join_names(design.generators)})"
    verb = "We compared" if len(design.generators) > 1 else "We evaluated"
    drawn = describe_drawing(design)
    by_name = dialogs_by_dataset(sources)
    if rated == sources.facts.dialogs:
        yield f"{verb} {models} on {count_of(rated, 'dialog')} ({by_name}), {drawn}."
    else:
        yield (
            f"{verb} {models} on {count_of(rated, 'dialog')} with ratings that count ({by_name}), out of "
            f"{sources.facts.dialogs:,} that the design had {drawn}."
        )


def describe_drawing(design: StudyDesign) -> str:
    """Say how dialogs were chosen: "drawn at random within each dataset (seed 2021)"."""
    label = {"emotion": "emotion", "gold_label": "label of the human reply"}
    even = {part.name: label[part.even_by] for part in design.datasets if part.even_by}
    listed = [part.name for part in design.datasets if part.ids]
    if len(listed) == len(design.datasets):
        return "which the researchers named one by one"
    if set(even) == {part.name for part in design.datasets} and len(set(even.values())) == 1:
        return f"drawn at random, as many of each {next(iter(even.values()))} (seed {design.seed})"
    but = [f"from {name} as many of each {one}" for name, one in even.items()]
    but += [f"those of {join_names(listed)} named one by one by the researchers"] if listed else []
    return f"drawn at random within each dataset{''.join(f', {one}' for one in but)} (seed {design.seed})"


def dialogs_by_dataset(sources: Sources) -> str:
    """Say how many dialogs of each dataset have ratings that count; only the names where results don't tell, as in a
    comparison, which shows a model in some dialogs only."""
    rows = [row for row in sources.results.main.table if row.dataset is not None and row.generator is not None]
    names = [part.name for part in sources.design.datasets]
    counts = {name: max((row.dialogs for row in rows if row.dataset == name), default=0) for name in names}
    if sum(counts.values()) != sources.results.main.size.dialogs:
        return f"from {join_names(names)}"
    return join_names([f"{count:,} from {name}" for name, count in counts.items() if count])


def _task(sources: Sources) -> Iterator[str]:
    design, facts = sources.design, sources.facts
    protocol = protocol_of(design)
    yield from describe_questions(design)
    if protocol.criteria[0].is_comparison and (shown := protocol.which_were_shown()):
        yield f"{shown[0].upper()}{shown[1:]}."
    yield f"Identical replies were shown once. {how_replies_were_shown(sources)}"
    yield (
        f"A task consisted of {count_of(design.hits.dialogs_per_hit, 'dialog')} and was offered to "
        f"{count_of(design.hits.assignments, 'worker')}; {_published(facts)}."
    )


def describe_questions(design: StudyDesign) -> Iterator[str]:
    """Say how people were asked, with each question once."""
    protocol = protocol_of(design)
    yield (how := protocol.how_it_was_asked())
    questions = dict.fromkeys([design.task.question, *(one.question for one in protocol.criteria if one.question)])
    if asked := [quoted for one in questions if (quoted := f"“{one}”") not in how]:
        yield f"They were asked: {' '.join(asked)}"


def _published(facts: Facts) -> str:
    waves = f" in {count_of(facts.waves, 'wave')}" if facts.waves > 1 else ""
    if facts.hits_built == 1:
        return "there was one task"
    if facts.hits_published == facts.hits_built:
        return f"all {facts.hits_built:,} tasks were published{waves}"
    are = "was" if facts.hits_published == 1 else "were"
    return f"{facts.hits_published:,} of {facts.hits_built:,} tasks {are} published{waves}"


def how_replies_were_shown(sources: Sources) -> str:
    if sources.design.task.reply_style == "tidied":
        return (
            "All replies, the human ones too, were typed alike for display (white space, first letters, a small i, "
            "apostrophes of contractions, the final full stop); no word was changed."
        )
    return "Replies were shown as they were written, without evening out how they were typed."


def _software(sources: Sources) -> Iterator[str]:
    software = sources.facts.software
    versions = join_names([f"{name} {number}" for name, number in software.items() if name != "evalplatform"])
    yield (
        f"The study was run and analysed with EvalPlatform {software['evalplatform']} ({versions}); its design, "
        f"dialogs and replies were frozen before data collection (SHA-256 {sources.manifest_sha256})."
    )
