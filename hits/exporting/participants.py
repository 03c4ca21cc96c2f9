"""Writes what reviewers ask about the people who rated: consent, pay, time, filters, exclusions, agreement, power.

participants.md has it as tables; the ARR checklist (research_checklist) and the datasheet refer to it.
"""

from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.analysing import describe_origin
from hits.exporting.analysis_methods import describe_power
from hits.exporting.bundle_facts import Sources, join_names
from hits.exporting.citations import cite_in_markdown
from hits.exporting.methods import describe_agreement, exclusion_sentences
from hits.exporting.origin_methods import describe_raters, name_workers
from hits.models.money import money


def participants(sources: Sources) -> str:
    warning = describe_origin(sources.results.origin)
    parts = ["# Participants", *([f"**{warning}**"] if warning else [])]
    parts += ["## Who rated", *_who(sources), "## Consent", *_consent(sources)]
    if sources.is_from_people:
        parts += ["## Pay", _pay_table(sources), "## Time", *_time(sources)]
    parts += ["## Exclusions", _prose(sources, exclusion_sentences(sources)), *_exclusion_table(sources)]
    parts += ["## Agreement", _prose(sources, describe_agreement(sources))]
    parts += ["## Power", _prose(sources, describe_power(sources))]
    parts += ["## Software and hashes", *_software(sources)]
    return "\n\n".join(parts) + "\n"


def _prose(sources: Sources, sentences: Iterator[str]) -> str:
    return name_workers(cite_in_markdown(" ".join(sentences)), sources.results.origin)


def _who(sources: Sources) -> Iterator[str]:
    facts, crowd = sources.facts, sources.design.crowd
    if not sources.is_from_people:
        yield " ".join(describe_raters(sources))
        return
    asks = facts.has_qualifications
    rows = {
        "recruited": facts.recruited or f"on {facts.place}",
        "workers": f"{facts.workers:,}, of whom the results count {sources.results.main.size.workers:,}",
        "assignments handed in": f"{facts.submissions:,} ({facts.problems:,} without usable answers, "
        f"{facts.rejected:,} rejected{f', {facts.returned:,} given back on request' if facts.returned else ''}"
        f"{f', {facts.extra:,} extra, by workers who were late' if facts.extra else ''})",
        "first and last day (UTC)": f"{facts.first_on} and {facts.last_on}",
        "countries": join_names(crowd.countries) if asks and crowd.countries else "no filter",
        "approved tasks before": f"at least {crowd.min_approved:,}" if asks and crowd.min_approved else "no filter",
        "approval rate": f"at least {crowd.min_approval_percent}%"
        if asks and crowd.min_approval_percent
        else "no filter",
        "assignments each": f"at most {crowd.max_hits_per_worker:,}",
        "other filters": join_names([f"{name}: {value}" for name, value in sorted(crowd.options.items())]),
    }
    yield _table("fact", "value", rows)


def _consent(sources: Sources) -> Iterator[str]:
    consent = sources.facts.consent
    if sources.is_from_people:
        told = (
            f"{count_of(consent.agreements, 'assignment')} began with an agreement to this text, by "
            f"{count_of(consent.workers, 'worker')}."
        )
        if consent.other_versions:
            told += f" {count_of(consent.other_versions, 'assignment')} began with an agreement to another version."
        if consent.without:
            told += f" For {count_of(consent.without, 'assignment')} no agreement is recorded."
        if sources.facts.declined:
            told += f" {count_of(sources.facts.declined, 'person', 'people')} read it and did not agree."
        yield told
    else:
        yield "Nobody agreed to anything: no person took part as a rater. The text of the design is this."
    yield f"Version (SHA-256 of the text): `{consent.version}`"
    yield "\n".join(f"> {line}".rstrip() for line in sources.design.task.consent.splitlines())


def _pay_table(sources: Sources) -> str:
    pay, currency, facts = sources.design.pay, sources.design.pay.currency, sources.facts
    word = "paid" if facts.pays_workers else "due, to be paid elsewhere"
    rows = {
        "currency": currency,
        "reward for an assignment": money(pay.reward_cents, currency),
        "bonus": f"{money(pay.bonus_cents, currency)} for {count_of(pay.bonus_points, 'bonus point')}"
        if pay.bonus_cents
        else "none",
        **{
            f"{word}: {one.kind}": f"{money(one.cents, currency)} in {count_of(one.count, 'payment')}, and "
            f"{money(one.fee_cents, currency)} in fees"
            for one in facts.paid
        },
        "hourly pay at the median, by the reward alone": money(facts.minutes.hourly_cents, currency)
        if facts.minutes
        else "too few assignments to say",
        "lowest hourly pay that the design allows": money(pay.minimum_hourly_cents, currency),
    }
    return _table("fact", "value", rows)


def _time(sources: Sources) -> Iterator[str]:
    minutes = sources.facts.minutes
    if minutes is None:
        yield "Too few assignments were handed in to say how long the work took."
        return
    yield f"Active minutes per assignment ({count_of(minutes.assignments, 'assignment')}):"
    yield _table("percentile", "minutes", {name: f"{value:.1f}" for name, value in minutes.percentiles.items()})


def _exclusion_table(sources: Sources) -> Iterator[str]:
    screened = sources.facts.screened
    if screened is None or not screened.funnel.steps:
        return
    rows = ["| excluded | workers | assignments | answers | ratings |", "|---|---|---|---|---|"]
    for rule, step in zip(sources.rules, screened.funnel.steps, strict=True):
        out = step.left_out
        rows.append(
            f"| {rule.excluded()} | {out.workers:,} | {out.assignments:,} | {out.answers:,} | {out.ratings:,} |"
        )
    kept = screened.funnel.kept
    rows.append(f"| kept | {kept.workers:,} | {kept.assignments:,} | {kept.answers:,} | {kept.ratings:,} |")
    yield name_workers("\n".join(rows), sources.results.origin)


def _software(sources: Sources) -> Iterator[str]:
    yield _table("software", "version", sources.facts.software)
    yield f"SHA-256 of the frozen study (manifest.jsonl): `{sources.manifest_sha256}`. sha256sums.txt has every file's."


def _table(first: str, second: str, rows: dict[str, str]) -> str:
    return "\n".join([f"| {first} | {second} |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows.items())])
