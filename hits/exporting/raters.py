"""Says who rated: how they were recruited, what they agreed to, what they were paid and how long they took.

A study that is not wholly from people recruited nobody and paid nobody, whatever its design and the local ledger say.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from evalplatform.wording import count_of
from hits.analysing import count_origins, describe_identity, describe_pool
from hits.exporting.bundle_facts import MoneyMoves, Sources, join_names
from hits.exporting.pay_words import describe_pay, hourly, is_unpaid, times
from hits.exporting.to_fill_in import PLAIN_TO_FILL_IN
from hits.exporting.worker_names import name_workers

NOBODY = "Nobody was recruited or paid."
MIXED = "All numbers here count them together, so they describe no study of people."
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# Names of the countries that studies ask for most; others keep their codes.
COUNTRIES = {
    "AU": "Australia", "CA": "Canada", "DE": "Germany", "ES": "Spain", "FR": "France", "GB": "the United Kingdom",
    "IE": "Ireland", "IN": "India", "IT": "Italy", "NL": "the Netherlands", "NZ": "New Zealand",
    "US": "the United States", "ZA": "South Africa",
}  # fmt: skip


def describe_raters(sources: Sources) -> Iterator[str]:
    if sources.facts.parts:
        yield from _offerings(sources)
    for one in sources.parts:
        told = _of_one_offering(one)
        if not sources.facts.parts:
            yield from told
            continue
        facts = one.facts
        were = "was" if facts.hits_published == 1 else "were"
        yield (
            f"In the offering {facts.marketplace}, {facts.hits_published:,} of {count_of(facts.hits_built, 'task')} "
            f"{were} published."
        )
        yield from (name_workers(sentence, one) for sentence in told)  # each crowd calls them by another word


def _offerings(sources: Sources) -> Iterator[str]:
    """Say what was put together, and what is not known about it."""
    results = sources.results
    yield (
        f"The study was offered {times(len(results.offerings))}, and the work is put together here: "
        f"{describe_pool(results)}. The frozen design does not plan that."
    )
    if identity := describe_identity(results):
        yield identity
    yield (
        f"Amounts are given for each offering, in {sources.design.pay.currency}, and are not added up."
        if sources.is_from_people
        else "Numbers are given for each offering."
    )


def _of_one_offering(sources: Sources) -> Iterator[str]:
    if sources.is_from_people:
        yield from _recruiting(sources)
        yield from _agreements(sources)
        yield from describe_pay(sources)
        yield from _time(sources)
    else:
        yield from describe_no_raters(sources)


def describe_no_raters(sources: Sources) -> Iterator[str]:
    """Yield who handed in work that is not wholly from people: made-up workers, people who rehearsed, or a mixture."""
    origin, facts, place = sources.results.origin, sources.facts, sources.facts.place
    work = count_of(facts.submissions, "assignment")
    if origin.simulation == origin.total:
        yield (
            f"A simulated crowd of {count_of(facts.workers, 'made-up worker')} handed in {work} on {place}: a program "
            "chose every rating, and no person took part."
        )
        yield NOBODY
    elif origin.rehearsal == origin.total:
        yield (
            f"In a rehearsal on {place}, {count_of(facts.workers, 'account')} handed in {work}: those who tried the "
            "study out were not its raters."
        )
        yield NOBODY
    else:
        yield f"The work was handed in on {place}. {count_origins(origin)}"
        yield MIXED if origin.people else NOBODY


def recruiting(sources: Sources) -> str:
    """Say how workers were recruited and what they had to fulfil, in sentences."""
    if not sources.facts.is_hired_there:
        return f"Workers did the tasks on {sources.facts.place}. How they were recruited: {PLAIN_TO_FILL_IN}."
    had_to = f" and had to {join_names(wanted)}" if (wanted := wishes(sources)) else ""
    more = f" Further filters were set there: {PLAIN_TO_FILL_IN}." if sources.design.crowd.options else ""
    return f"Workers were recruited {how_recruited(sources)}{had_to}.{more}"


def how_recruited(sources: Sources) -> str:
    return sources.facts.recruited or f"on {sources.facts.place}"


def name_countries(codes: Sequence[str], last: str = "and") -> str:
    return join_names([COUNTRIES.get(code, code) for code in codes], last)


def wishes(sources: Sources) -> list[str]:
    """Return what the crowd asked of workers before it admitted them."""
    crowd = sources.design.crowd
    if not sources.facts.has_qualifications:
        return []
    wanted = []
    if crowd.countries:
        wanted.append(f"be located in {name_countries(crowd.countries, 'or')}")
    if crowd.min_approved:
        wanted.append(f"have at least {crowd.min_approved:,} approved tasks")
    if crowd.min_approval_percent:
        wanted.append(f"have an approval rate of at least {crowd.min_approval_percent}%")
    return wanted


def _recruiting(sources: Sources) -> Iterator[str]:
    crowd, facts = sources.design.crowd, sources.facts
    yield recruiting(sources)
    yield (
        f"In all, {count_of(facts.workers, 'worker')} handed in {count_of(facts.submissions, 'assignment')} (one "
        f"worker's work on one task){_dates(sources)}; each could hand in at most {crowd.max_hits_per_worker:,}."
    )
    if facts.extra:
        paid = "they were paid and count" if facts.money is MoneyMoves.THERE else "they count"
        yield (
            f"{count_of(facts.extra, 'assignment')} more than planned {'is' if facts.extra == 1 else 'are'} among "
            f"them, by workers who were late and whose place another worker had been given by then: {paid} like the "
            "others."
        )
    if facts.problems or facts.rejected:
        yield (
            f"{count_of(facts.problems, 'assignment')} came without usable answers, and {facts.rejected:,} "
            f"{'was' if facts.rejected == 1 else 'were'} rejected."
        )
    if facts.returned:
        given = count_of(facts.returned, "assignment was", "assignments were")
        yield f"{given} given back on request{'' if is_unpaid(sources) else ', and not paid'}."


def _dates(sources: Sources) -> str:
    first, last = sources.facts.first_on, sources.facts.last_on
    if not first or not last:
        return ""
    return f" on {_in_words(first)}" if first == last else f" between {_in_words(first)} and {_in_words(last)}"


def _in_words(day: str) -> str:
    """
    >>> _in_words("2026-11-16")
    '16 November 2026'
    """
    found = date.fromisoformat(day)
    return f"{found.day} {MONTHS[found.month - 1]} {found.year}"


def _agreements(sources: Sources) -> Iterator[str]:
    consent = sources.facts.consent
    if consent.agreements:
        yield (
            f"Before they began, workers agreed to a consent text ({count_of(consent.agreements, 'agreement')} by "
            f"{count_of(consent.workers, 'worker')})."
        )
    if consent.other_versions:
        began = count_of(consent.other_versions, "assignment")
        yield f"{began} began with an agreement to another version of that text."
    if consent.without:
        yield f"For {count_of(consent.without, 'assignment')} no agreement is recorded."
    if sources.facts.declined:
        yield f"{count_of(sources.facts.declined, 'person', 'people')} read it and did not agree."


def _time(sources: Sources) -> Iterator[str]:
    minutes = sources.facts.minutes
    if minutes is None:
        yield "Too few assignments were handed in to say how long the work took."
        return
    low, middle, high = (minutes.percentiles[name] for name in ("25", "50", "75"))
    worth = hourly(sources, minutes)
    yield (
        f"The median active time per assignment was {middle:.1f} minutes (quartiles {low:.1f} and {high:.1f})"
        + (f", so that {worth}." if worth else ".")
    )
