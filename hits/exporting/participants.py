"""Writes what reviewers ask about the people who rated: consent, pay, time, filters, exclusions, agreement, power.

participants.md has it as tables; the ARR checklist (research_checklist) and the datasheet refer to it.
"""

from collections.abc import Callable, Iterable, Iterator

from evalplatform.wording import count_of
from hits.analysing import describe_identity, describe_origin, describe_pool
from hits.exporting.bundle_facts import MoneyMoves, Sources, join_names
from hits.exporting.pay_words import describe_pay, is_unpaid
from hits.exporting.power_words import describe_power
from hits.exporting.quality_methods import describe_agreement, describe_exclusions
from hits.exporting.raters import describe_no_raters, how_recruited, name_countries
from hits.exporting.to_fill_in import TO_FILL_IN
from hits.exporting.worker_names import name_workers, prose
from hits.models.money import money


def participants(sources: Sources) -> str:
    warning = describe_origin(sources.results.origin)
    parts = ["# Participants", *([f"**{warning}**"] if warning else [])]
    parts += ["## Who rated", *_together(sources), *_of_each(sources, _who), "## Consent", *_consent(sources)]
    if sources.is_from_people:
        parts += ["## Pay", *_of_each(sources, lambda one: [_pay(one)]), "## Time", *_of_each(sources, _time)]
    parts += ["## Exclusions", prose(sources, describe_exclusions(sources)), *_exclusion_table(sources)]
    parts += ["## Agreement", prose(sources, describe_agreement(sources))]
    parts += ["## Power", prose(sources, describe_power(sources))]
    parts += ["## Software and hashes", *_software(sources)]
    return "\n\n".join(parts) + "\n"


def _of_each(sources: Sources, write: Callable[[Sources], Iterable[str]]) -> Iterator[str]:
    """Write the same of each offering where several are put together."""
    for one in sources.parts:
        if sources.facts.parts:
            yield f"### {one.facts.marketplace}"
        yield from write(one)


def _together(sources: Sources) -> Iterator[str]:
    if sources.facts.parts:
        told = f"Several offerings are put together: {describe_pool(sources.results)}."
        yield prose(sources, filter(None, [told, describe_identity(sources.results)]))


def _who(sources: Sources) -> Iterator[str]:
    if not sources.is_from_people:
        yield " ".join(describe_no_raters(sources))
        return
    facts, crowd = sources.facts, sources.design.crowd
    rows = {
        **({"recruited": how_recruited(sources)} if facts.is_hired_there else {"rated on": facts.place}),
        "workers": f"{facts.workers:,}, of whom the results count {sources.counted_workers:,}",
        "assignments handed in": f"{facts.submissions:,} ({facts.problems:,} without usable answers, "
        f"{facts.rejected:,} rejected{f', {facts.returned:,} given back on request' if facts.returned else ''}"
        f"{f', {facts.extra:,} extra, by workers who were late' if facts.extra else ''})",
        "first and last day (UTC)": f"{facts.first_on} and {facts.last_on}",
        **(_qualifications(sources) if facts.has_qualifications else {}),
        "assignments each": f"at most {crowd.max_hits_per_worker:,}",
        "other filters": join_names([f"{name}: {value}" for name, value in sorted(crowd.options.items())]),
    }
    yield name_workers(_table("fact", "value", rows), sources)


def _qualifications(sources: Sources) -> dict[str, str]:
    crowd = sources.design.crowd
    return {
        "countries": name_countries(crowd.countries) if crowd.countries else "no filter",
        "approved tasks before": f"at least {crowd.min_approved:,}" if crowd.min_approved else "no filter",
        "approval rate": f"at least {crowd.min_approval_percent}%" if crowd.min_approval_percent else "no filter",
    }


def _consent(sources: Sources) -> Iterator[str]:
    yield _agreements(sources) if sources.is_from_people else NO_AGREEMENTS[_kind(sources)]
    yield f"Version (SHA-256 of the text): `{sources.facts.consent.version}`"
    yield "\n".join(f"> {line}".rstrip() for line in sources.design.task.consent.splitlines())


# Of work that is not wholly from people.
NO_AGREEMENTS = {
    "simulation": "Nobody agreed to anything: no person took part. The text of the design is this.",
    "rehearsal": "No agreement of a rater is recorded: those who rehearsed were none. The text of the design is this.",
    "mixture": "Agreements are not counted, because not all of the work is by raters. The text of the design is this.",
}


def _kind(sources: Sources) -> str:
    origin = sources.results.origin
    return {origin.simulation: "simulation", origin.rehearsal: "rehearsal"}.get(origin.total, "mixture")


def _agreements(sources: Sources) -> str:
    consent = sources.facts.consent
    told = f"{count_of(consent.agreements, 'assignment')} began with an agreement to this text"
    told += f", by {count_of(consent.workers, 'worker')}." if consent.agreements else "."
    if consent.other_versions:
        told += f" {count_of(consent.other_versions, 'assignment')} began with an agreement to another version."
    if consent.without:
        told += f" For {count_of(consent.without, 'assignment')} no agreement is recorded."
    if sources.facts.declined:
        told += f" {count_of(sources.facts.declined, 'person', 'people')} read it and did not agree."
    return name_workers(told, sources)


def _pay(sources: Sources) -> str:
    if is_unpaid(sources):
        return prose(sources, describe_pay(sources))
    pay, currency, facts = sources.design.pay, sources.design.pay.currency, sources.facts
    is_paid = facts.money is MoneyMoves.THERE
    rows = {
        "currency": currency,
        "reward for an assignment": money(pay.reward_cents, currency),
        "bonus": f"{money(pay.bonus_cents, currency)} for {count_of(pay.bonus_points, 'bonus point')}"
        if pay.bonus_cents
        else "none",
    }
    for one in facts.paid:
        fees = f", and {money(one.fee_cents, currency)} in fees" if is_paid else ""
        sums = f"{money(one.cents, currency)} in {count_of(one.count, 'payment')}{fees}"
        rows |= {f"paid: {one.kind}" if is_paid else f"due: {one.kind}": sums}
    if not is_paid:
        rows["whether and how it was paid"] = TO_FILL_IN
    by_reward = "hourly pay at the median, by the reward alone" + ("" if is_paid else ", if it was paid")
    rows |= {
        by_reward: money(facts.minutes.hourly_cents, currency) if facts.minutes else "too few assignments to say",
        "hourly pay that the design aimed at, at least": money(pay.minimum_hourly_cents, currency),
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
    yield name_workers("\n".join(rows), sources)


def _software(sources: Sources) -> Iterator[str]:
    yield _table("software", "version", sources.facts.software)
    yield f"SHA-256 of the frozen study (manifest.jsonl): `{sources.manifest_sha256}`. sha256sums.txt has every file's."


def _table(first: str, second: str, rows: dict[str, str]) -> str:
    return "\n".join([f"| {first} | {second} |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows.items())])
