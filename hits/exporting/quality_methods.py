"""Says how the quality of the work was checked, what was excluded, and how far those who rated agree.

Exclusions are in words, never by the names of rules; agreement is given before and after them.
"""

from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.analysing import CriterionResults, Results
from hits.exporting.bundle_facts import MoneyMoves, Sources
from hits.exporting.pay_words import is_unpaid, times
from hits.models.design import CheckpointPart
from hits.protocols import protocol_of
from hits.screening import RULES
from hits.stats import Agreement, Estimate, Undefined


def describe_exclusions(sources: Sources) -> Iterator[str]:
    """Yield how the quality of the work was checked, and what was excluded."""
    yield from _checkpoints(sources)
    yield from _controls(sources)
    yield from _exclusions(sources)


def _checkpoints(sources: Sources) -> Iterator[str]:
    checkpoints, protocol = sources.design.checkpoints, protocol_of(sources.design)
    if not checkpoints.per_hit:
        if not checkpoints.attention_checks:
            yield "There were no attention checks."
        return
    if not sources.design.tells_points:
        yield (
            f"In {count_of(checkpoints.per_hit, 'dialog')} of each task, the human reply was hidden among the models' "
            "and rated like them. Workers were told of no points and won none by it."
        )
        return
    yield (
        f"In {count_of(checkpoints.per_hit, 'dialog')} of each task, the human reply was hidden among the models' as a "
        f"checkpoint; a worker who {protocol.how_it_was_won()} won a bonus point. "
        f"{_what_counted(checkpoints, protocol.answer_noun)}"
    )


def _controls(sources: Sources) -> Iterator[str]:
    rules, facts = sources.design.checkpoints, sources.facts
    if rules.attention_checks:
        yield (
            f"Each task had {count_of(rules.attention_checks, 'attention check')}: a dialog of the task came again "
            "and told in place of the question what to answer; it made no ratings."
        )
        if facts.attention_checks:
            checks = count_of(facts.attention_checks, "such check")
            yield f"Of {checks}, {facts.attention_passed:,} were answered as told."
    if rules.repeats:
        yield (
            f"In each task, {count_of(rules.repeats, 'dialog')} came twice, with the replies in another order, to see "
            "how far workers agree with themselves; only the first answers are ratings."
        )


def _self_agreement(one: CriterionResults, about: str) -> Iterator[str]:
    found = one.self_agreement
    if found is None or isinstance(found.alike, Undefined):
        return
    kappa = "" if isinstance(found.kappa, Undefined) else f"; weighted kappa was {with_interval(found.kappa)}"
    yield (
        f"Asked twice{about}, workers gave the same answer in {100 * found.alike.value:.1f}% of "
        f"{count_of(found.pairs, 'case')}{kappa}."
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
    if sources.is_from_people and not is_unpaid(sources):
        pay = "Pay" if sources.facts.money is MoneyMoves.THERE else "What was due"
        yield f"{pay} did not depend on these exclusions."


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
        yield from _self_agreement(one, about)
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
