"""Writes the methods section from what really happened, in paragraphs: material, raters, quality control, analysis.

Its numbers come from the database (facts.json), the frozen design and the results. The analysis has a file of its own
(analysis_methods), and so have the words about raters of a study that is not wholly from people (origin_methods).
"""

from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.analysing import Results
from hits.exporting.analysis_methods import describe_analysis, times
from hits.exporting.bundle_facts import Sources, join_names
from hits.exporting.citations import bibliography, cite_in_latex, cite_in_markdown
from hits.exporting.latex import escape
from hits.exporting.origin_methods import describe_raters, name_workers
from hits.models import Payment
from hits.models.design import CheckpointPart
from hits.models.money import money
from hits.protocols import protocol_of
from hits.screening import RULES
from hits.stats import Agreement, Estimate, Undefined

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
    origin = sources.results.origin
    raters = (_crowd, _pay, _time) if origin.is_from_people else (describe_raters,)
    parts = {
        "Material and task": (_material, _task),
        "Raters": raters,
        "Quality control": (exclusion_sentences, describe_agreement),
        "Statistical analysis": (describe_analysis, _software),
    }
    return {
        title: name_workers(" ".join(sentence for part in some for sentence in part(sources)), origin)
        for title, some in parts.items()
    }


# --- Material and task ------------------------------------------------------------------------------------------------


def _material(sources: Sources) -> Iterator[str]:
    design, rated = sources.design, sources.results.main.size.dialogs
    number = len(design.generators)
    models = f"{SMALL_NUMBERS.get(number, number)} model{'s' if number > 1 else ''} ({join_names(design.generators)})"
    verb = "We compared" if len(design.generators) > 1 else "We evaluated"
    drawn = f"drawn at random within each dataset (seed {design.seed})"
    by_name = dialogs_by_dataset(sources)
    if rated == sources.facts.dialogs:
        yield f"{verb} {models} on {count_of(rated, 'dialog')} ({by_name}), {drawn}."
    else:
        yield (
            f"{verb} {models} on {count_of(rated, 'dialog')} with ratings that count ({by_name}), out of "
            f"{sources.facts.dialogs:,} that the design had {drawn}."
        )


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
    yield protocol.how_it_was_asked()
    asked = list(dict.fromkeys([design.task.question, *(one.question for one in protocol.criteria if one.question)]))
    yield f"They were asked: {' '.join(f'“{question}”' for question in asked)}"
    yield f"Identical replies were shown once. {how_replies_were_shown(sources)}"
    hits = "the only HIT" if facts.hits_built == 1 else f"{facts.hits_published:,} of {facts.hits_built:,} HITs"
    waves = f" in {count_of(facts.waves, 'wave')}" if facts.waves > 1 else ""
    yield (
        f"A task (HIT) consisted of {count_of(design.hits.dialogs_per_hit, 'dialog')} and was offered to "
        f"{count_of(design.hits.assignments, 'worker')}; {hits} {'was' if facts.hits_published == 1 else 'were'} "
        f"published{waves}."
    )


def how_replies_were_shown(sources: Sources) -> str:
    if sources.design.task.reply_style == "tidied":
        return (
            "All replies, the human ones too, were typed alike for display (white space, first letters, a small i, "
            "apostrophes of contractions, the final full stop); no word was changed."
        )
    return "Replies were shown as they were written, without evening out how they were typed."


# --- Raters -----------------------------------------------------------------------------------------------------------


def _crowd(sources: Sources) -> Iterator[str]:
    crowd, facts = sources.design.crowd, sources.facts
    wanted = []
    if crowd.countries and facts.has_qualifications:
        wanted.append(f"be located in {join_names(crowd.countries, 'or')}")
    if crowd.min_approved and facts.has_qualifications:
        wanted.append(f"have at least {crowd.min_approved:,} approved HITs")
    if crowd.min_approval_percent and facts.has_qualifications:
        wanted.append(f"have an approval rate of at least {crowd.min_approval_percent}%")
    recruited = facts.recruited or f"on {facts.place}"
    yield f"Workers were recruited {recruited}" + (f" and had to {join_names(wanted)}." if wanted else ".")
    yield (
        f"In all, {count_of(facts.workers, 'worker')} handed in {count_of(facts.submissions, 'assignment')}"
        f"{_dates(sources)}; each could do at most {crowd.max_hits_per_worker:,}."
    )
    if facts.extra:
        yield (
            f"{count_of(facts.extra, 'assignment')} more than planned {'is' if facts.extra == 1 else 'are'} among "
            "them, by workers who were late and whose place another worker had been given by then: they were paid and "
            "count like the others."
        )
    consent = facts.consent
    if consent.agreements:
        yield (
            f"Before they began, workers agreed to a consent text ({count_of(consent.agreements, 'agreement')} by "
            f"{count_of(consent.workers, 'worker')})."
        )
    if facts.declined:
        yield f"{count_of(facts.declined, 'person', 'people')} read it and did not agree."
    if facts.problems or facts.rejected:
        yield (
            f"{count_of(facts.problems, 'assignment')} came without usable answers, and {facts.rejected:,} "
            f"{'was' if facts.rejected == 1 else 'were'} rejected."
        )
    if facts.returned:
        yield f"{count_of(facts.returned, 'assignment was', 'assignments were')} given back on request, and not paid."


def _dates(sources: Sources) -> str:
    first, last = sources.facts.first_on, sources.facts.last_on
    if not first or not last:
        return ""
    return f" on {first}" if first == last else f" between {first} and {last}"


def _pay(sources: Sources) -> Iterator[str]:
    pay, currency, facts = sources.design.pay, sources.design.pay.currency, sources.facts
    if not facts.pays_workers:
        yield from _pay_elsewhere(sources)
        return
    bonus = facts.paid_for(Payment.Kind.BONUS)
    yield f"An assignment paid {money(pay.reward_cents, currency)} (all amounts are in {currency})."
    if pay.bonus_cents:
        yield (
            f"A bonus of {money(pay.bonus_cents, currency)} for {count_of(pay.bonus_points, 'bonus point')} was "
            f"{f'paid {times(bonus.count)}' if bonus.count else 'never paid'}."
        )
    if (top_up := facts.paid_for(Payment.Kind.TOP_UP)).count:
        for_work = count_of(top_up.count, "assignment")
        yield f"Top-ups of {money(top_up.cents, currency)} in all were paid for {for_work}."
    total, fees = sum(one.cents for one in facts.paid), sum(one.fee_cents for one in facts.paid)
    received, kept = money(total, currency), money(fees, currency)
    yield f"In total, workers received {received}, and the marketplace {kept} in fees."


def _pay_elsewhere(sources: Sources) -> Iterator[str]:
    """Yield what was promised and is due. Nobody here knows whether it was paid."""
    pay, currency = sources.design.pay, sources.design.pay.currency
    if not pay.reward_cents:
        yield "Workers were not paid."
        return
    total = money(sum(one.cents for one in sources.facts.paid), currency)
    bonus = f", and {money(pay.bonus_cents, currency)} more with the bonus" if pay.bonus_cents else ""
    yield f"An assignment was worth {money(pay.reward_cents, currency)}{bonus} (all amounts are in {currency})."
    yield f"The researchers were to pay this elsewhere: {total} was due in all, and no money went through the software."


def _time(sources: Sources) -> Iterator[str]:
    minutes = sources.facts.minutes
    if minutes is None:
        yield "Too few assignments were handed in to say how long the work took."
        return
    low, middle, high = (minutes.percentiles[name] for name in ("25", "50", "75"))
    hourly = money(minutes.hourly_cents, sources.design.pay.currency)
    yield (
        f"The median active time per assignment was {middle:.1f} minutes (quartiles {low:.1f} and {high:.1f})"
        + (f", so that the reward alone amounted to {hourly} per hour." if minutes.hourly_cents else ".")
    )


# --- Quality control --------------------------------------------------------------------------------------------------


def exclusion_sentences(sources: Sources) -> Iterator[str]:
    """Yield how the quality of the work was checked, and what was excluded."""
    yield from _checkpoints(sources)
    yield from _exclusions(sources)


def _checkpoints(sources: Sources) -> Iterator[str]:
    checkpoints, protocol = sources.design.checkpoints, protocol_of(sources.design)
    if not checkpoints.per_hit:
        yield "There were no attention checks."
        return
    yield (
        f"In {count_of(checkpoints.per_hit, 'dialog')} of each HIT the human reply was hidden among the models' as a "
        f"checkpoint; a worker who {protocol.how_it_was_won()} won a bonus point. "
        f"{_what_counted(checkpoints, protocol.answer_noun)}"
    )


def _what_counted(checkpoints: CheckpointPart, answer: str) -> str:
    if checkpoints.feedback == "after submission":
        return f"The {answer} that was submitted counted, and workers heard of their points only then."
    most = f"at most {times(checkpoints.max_attempts)}" if checkpoints.max_attempts else "as often as they liked"
    asked = f"Workers could ask {most} whether a {answer} would win"
    if checkpoints.counts == "final":
        return f"{asked}; what counted was the {answer} that they submitted, whether they asked or not."
    return (
        f"{asked}; what counted was the {answer} at which they first asked, provided that the submitted one passed "
        f"as well, or the submitted one where they never asked."
    )


def _exclusions(sources: Sources) -> Iterator[str]:
    screened = sources.facts.screened
    if screened is None:
        yield "No work was excluded: the study was not screened."
        return
    rules, funnel = sources.rules, screened.funnel
    if not rules:
        yield "No work was excluded."
        return
    if screened.is_frozen_rules:
        yield f"The exclusion {_rules(len(rules))} fixed in the design before data collection{_source(sources)}."
    else:
        yield f"The exclusion {_rules(len(rules))} chosen after data collection; the exclusions are exploratory."
    if screened.exploratory_screenings:
        yield f"Other rules than those of the design were tried {times(screened.exploratory_screenings)}."
    for place, (rule, step) in enumerate(zip(rules, funnel.steps, strict=True)):
        begin = "We excluded" if place == 0 else "We then excluded"
        yield f"{begin} {rule.excluded()}, which removed {_removed(step.left_out.answers, step.left_out.workers)}."
    received, kept = funnel.received, funnel.kept
    yield (
        f"Of {received.answers:,} answers (one worker's ratings of one dialog's replies) by "
        f"{count_of(received.workers, 'worker')}, {kept.answers:,} by {count_of(kept.workers, 'worker')} remained."
    )
    if sources.is_from_people:
        yield "Nobody's pay depended on these exclusions."


def _rules(count: int) -> str:
    return "rule was" if count == 1 else "rules were"


def _source(sources: Sources) -> str:
    papers = {rule for rule in RULES.values() if rule.is_default}
    return " and follow earlier work [@xie]" if {type(rule) for rule in sources.rules} == papers else ""


def _removed(answers: int, workers: int) -> str:
    return f"{count_of(answers, 'answer')} by {count_of(workers, 'worker')}" if answers else "nothing"


def describe_agreement(sources: Sources) -> Iterator[str]:
    """Yield the agreement of each criterion, before and after exclusions."""
    yield from agreement_sentences(sources.results, has_rules=bool(sources.rules))


def agreement_sentences(results: Results, has_rules: bool) -> Iterator[str]:
    criteria = [one for one in results.criteria if one.agreement]
    for place, one in enumerate(criteria):
        level = "interval" if one.is_by_mean else "ordinal"  # the distance that fits the scale
        about = f" on {one.title}" if len(criteria) > 1 else ""
        before = next((variant.agreement for variant in one.variants if not variant.rules), None)
        after = one.agreement[0]
        alpha: Estimate | Undefined = getattr(after, f"alpha_{level}")
        if isinstance(alpha, Undefined):
            yield f"Agreement{about} between workers is undefined: {alpha.reason}."
            continue
        measure = f"Krippendorff's alpha with {level} distances" + (" [@krippendorff]" if place == 0 else "")
        same = "two replies" if one.is_comparison else "reply"
        if has_rules and before is not None:
            yield (
                f"Agreement{about} between workers on the same {same}, measured by {measure}, was "
                f"{_alpha(before, level)} before and {_alpha(after, level)} after exclusions"
                f"{_other_measures(after, place == 0)}."
            )
        else:
            yield (
                f"Agreement{about} between workers on the same {same}, measured by {measure}, was "
                f"{_alpha(after, level)}{_other_measures(after, place == 0)}."
            )


def _alpha(agreement: Agreement, level: str) -> str:
    value: Estimate | Undefined = getattr(agreement, f"alpha_{level}")
    return "undefined" if isinstance(value, Undefined) else with_interval(value)


def _other_measures(after: Agreement, is_first: bool) -> str:
    told = []
    if isinstance(after.fleiss_kappa, Estimate):
        told.append(f"Fleiss' kappa{' [@fleiss]' if is_first else ''} was {after.fleiss_kappa.value:.2f}")
    if isinstance(after.raw, Estimate):
        told.append(f"{100 * after.raw.value:.1f}% of the pairs of ratings agreed")
    return f"; {' and '.join(told)}" if told else ""


def with_interval(value: Estimate) -> str:
    if isinstance(value.interval, Undefined):
        return f"{value.value:.2f}"
    return f"{value.value:.2f} (95% CI {value.interval.low:.2f} to {value.interval.high:.2f})"


# --- Software ---------------------------------------------------------------------------------------------------------


def _software(sources: Sources) -> Iterator[str]:
    software = sources.facts.software
    versions = join_names([f"{name} {number}" for name, number in software.items() if name != "evalplatform"])
    yield (
        f"The study was run and analysed with EvalPlatform {software['evalplatform']} ({versions}); its design, "
        f"dialogs and replies were frozen before data collection (SHA-256 {sources.manifest_sha256})."
    )
