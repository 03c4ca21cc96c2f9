"""Writes the methods paragraph from what really happened: its numbers come from the database and the results."""

from collections.abc import Iterator

from evalplatform.wording import count_of
from hits.crowds import all_places
from hits.exporting.bundle_facts import Facts
from hits.exporting.latex import escape
from hits.exporting.origin_methods import describe_raters, name_workers
from hits.models import Payment
from hits.models.design import CheckpointPart
from hits.models.money import money
from hits.protocols import protocol_of
from hits.screening import describe_facts
from hits.stats import Estimate, Undefined


def methods_markdown(facts: Facts) -> str:
    warning = facts.results.origin.warning
    head = f"# Methods\n\n**{warning}.**\n\n" if warning else "# Methods\n\n"
    return f"{head}{methods_paragraph(facts)}\n"


def methods_latex(facts: Facts) -> str:
    warning = facts.results.origin.warning
    head = f"% {warning}\n\\textbf{{{escape(warning)}.}} " if warning else ""
    return f"{head}{escape(methods_paragraph(facts))}\n"


def methods_paragraph(facts: Facts) -> str:
    origin = facts.results.origin
    raters = (_crowd, _pay, _time) if origin.is_from_people else (describe_raters,)
    parts = (_material, _task, *raters, _quality, _exclusions, _looks, _agreement, _software)
    return name_workers(" ".join(sentence for part in parts for sentence in part(facts)), origin)


def _material(facts: Facts) -> Iterator[str]:
    design = facts.design
    counts = _join([f"{part.dialog_count:,} of {part.name}" for part in design.datasets])
    yield (
        f"We compared {count_of(len(design.generators), 'model')} ({_join(design.generators)}) on {facts.dialogs:,} "
        f"dialogs ({counts}), chosen at random with the seed {design.seed}."
    )


def _task(facts: Facts) -> Iterator[str]:
    design = facts.design
    yield (
        f"{protocol_of(design).how_it_was_asked()} Identical replies were shown once. {how_replies_were_shown(facts)}"
    )
    yield (
        f"A HIT had {count_of(design.hits.dialogs_per_hit, 'dialog')} and was offered to "
        f"{count_of(design.hits.assignments, 'worker')}; {facts.hits_published:,} of "
        f"{count_of(facts.hits_built, 'HIT was', 'HITs were')} published, in {count_of(facts.waves, 'wave')}."
    )


def how_replies_were_shown(facts: Facts) -> str:
    if facts.design.task.reply_style == "tidied":
        return (
            "All replies, the human ones too, were typed alike for display (white space, first letters, a small i, "
            "apostrophes of contractions, the final full stop); no word was changed."
        )
    return "Replies were shown as they were written, without evening out how they were typed."


def _crowd(facts: Facts) -> Iterator[str]:
    crowd = facts.design.crowd
    wanted = []
    if crowd.countries:
        wanted.append(f"live in {_join(crowd.countries, 'or')}")
    if crowd.min_approved:
        wanted.append(f"have at least {crowd.min_approved:,} approved HITs")
    if crowd.min_approval_percent:
        wanted.append(f"have an approval rate of at least {crowd.min_approval_percent} %")
    place = all_places()[facts.marketplace].environment.described
    yield f"Workers were recruited on {place}" + (f" and had to {_join(wanted)}." if wanted else ".")
    yield (
        f"{count_of(facts.workers, 'worker')} handed in {count_of(facts.submissions, 'assignment')}{_dates(facts)}; "
        f"nobody could do more than {crowd.max_hits_per_worker:,}."
    )
    if facts.problems or facts.rejected:
        yield f"{facts.problems:,} of them could not be read, and {facts.rejected:,} were rejected."


def _dates(facts: Facts) -> str:
    if facts.first_at is None or facts.last_at is None:
        return ""
    first, last = f"{facts.first_at:%Y-%m-%d}", f"{facts.last_at:%Y-%m-%d}"
    return f" on {first}" if first == last else f" from {first} to {last}"


def _pay(facts: Facts) -> Iterator[str]:
    pay, currency = facts.design.pay, facts.design.pay.currency
    bonus = facts.paid_for(Payment.Kind.BONUS)
    yield f"An assignment paid {money(pay.reward_cents, currency)}."
    if pay.bonus_cents:
        yield (
            f"A bonus of {money(pay.bonus_cents, currency)} for {count_of(pay.bonus_points, 'bonus point')} was "
            f"paid {_times(bonus.count)}."
        )
    if (top_up := facts.paid_for(Payment.Kind.TOP_UP)).count:
        for_work = count_of(top_up.count, "assignment")
        yield f"Top-ups of {money(top_up.cents, currency)} in all were paid for {for_work}."
    total, fees = sum(one.cents for one in facts.paid), sum(one.fee_cents for one in facts.paid)
    received, kept = money(total, currency), money(fees, currency)
    yield f"In all, workers received {received}, and the marketplace {kept} in fees."


def _time(facts: Facts) -> Iterator[str]:
    if facts.pay is None:
        yield "Too few assignments were handed in to say how long the work took."
        return
    low, middle, high = facts.pay.minutes_quartiles
    yield (
        f"The median active time was {middle:.1f} minutes (quartiles {low:.1f} and {high:.1f}), so that the reward "
        f"alone comes to {money(facts.pay.hourly_cents, facts.design.pay.currency)} an hour."
    )


def _quality(facts: Facts) -> Iterator[str]:
    checkpoints = facts.design.checkpoints
    if not checkpoints.per_hit:
        yield "There were no checkpoints."
        return
    yield (
        f"In {count_of(checkpoints.per_hit, 'dialog')} of each HIT the human reply was hidden among the models' as a "
        f"checkpoint; a worker who {protocol_of(facts.design).how_it_was_won()} won a bonus point. "
        f"{_what_counted(checkpoints, protocol_of(facts.design).answer_noun)}"
    )


def _what_counted(checkpoints: CheckpointPart, answer: str) -> str:
    if checkpoints.feedback == "after submission":
        return f"The {answer} that was submitted counted, and workers heard of their points only then."
    most = f"at most {_times(checkpoints.max_attempts)}" if checkpoints.max_attempts else "as often as they liked"
    asked = f"Workers could ask {most} whether a {answer} would win"
    if checkpoints.counts == "final":
        return f"{asked}; what counted was the {answer} that they submitted, whether they asked or not."
    return (
        f"{asked}; what counted was the {answer} at which they first asked, provided that the submitted one passed "
        f"as well, or the submitted one where they never asked."
    )


def _exclusions(facts: Facts) -> Iterator[str]:
    run, funnel = facts.run, facts.funnel
    if run is None or funnel is None:
        yield "No work was left out: the study was not screened."
        return
    chosen = "fixed before the study" if run.is_frozen_rules else "chosen after the fact, as an exploration"
    received, kept = funnel.received, funnel.kept
    yield (
        f"Of {received.answers:,} answers (one worker's ratings of one dialog's replies), {kept.answers:,} from "
        f"{count_of(kept.workers, 'worker')} on {count_of(facts.results.main.size.dialogs, 'dialog')} were kept."
    )
    if facts.results.origin.is_from_people:
        yield "Nobody's pay depended on it."
    steps = [
        f"{step.rule} ({describe_facts(step.parameters)}) left out {count_of(step.left_out.answers, 'answer')} of "
        f"{count_of(step.left_out.workers, 'worker')}"
        for step in funnel.steps
    ]
    if steps:
        yield f"The rules, {chosen}, were applied in this order: {'; '.join(steps)}."


def _looks(facts: Facts) -> Iterator[str]:
    progress = facts.results.progress
    if not progress.planned:
        return
    looked = (
        f"Interim results were looked at {_times(progress.looks)}" if progress.looks else "Nobody looked at results"
    )
    yield f"{looked} before these were computed; {progress.reason}."
    if progress.is_by_sequence:
        yield (
            "The design let the study stop by itself or drop models: after each sync its rule looked at whole HITs in "
            f"their frozen order, {_times(progress.rule_looks)}. Confidence sequences decide (Robbins' normal mixture, "
            "with the two-way variance), which hold at every look; p-values are 1 / the largest e-value of all looks."
        )
        if progress.dropped:
            yield f"Dropped from HITs that were published after they had lost: {_join(list(progress.dropped))}."
    if not progress.is_complete and not progress.is_by_sequence:
        yield (
            "The results are interim: differences have confidence sequences, which hold at every look (Robbins' normal "
            "mixture, with the two-way variance), and no fixed-sample test was made."
        )


def _agreement(facts: Facts) -> Iterator[str]:
    criteria = [one for one in facts.results.criteria if one.agreement]
    for one in criteria:
        level = "interval" if one.is_by_mean else "ordinal"  # the distance that fits the scale
        alpha, raw = getattr(one.agreement[0], f"alpha_{level}"), one.agreement[0].raw
        about = f" on {one.criterion}" if len(criteria) > 1 else ""
        if isinstance(alpha, Undefined) or isinstance(raw, Undefined):
            reason = alpha.reason if isinstance(alpha, Undefined) else "it has none"
            yield f"Agreement{about} is undefined: {reason}."
            continue
        same = "two replies" if one.is_comparison else "reply"
        yield (
            f"Workers agreed{about} on the same {same} with an {level} Krippendorff's alpha of {_estimate(alpha)} "
            f"and in {100 * raw.value:.1f} % of the pairs of ratings."
        )


def _software(facts: Facts) -> Iterator[str]:
    versions = _join([f"{name} {number}" for name, number in facts.software.items() if name != "evalplatform"])
    yield (
        f"The study was run and analysed with EvalPlatform {facts.software['evalplatform']} ({versions}); its design, "
        f"dialogs and replies were frozen beforehand with the SHA-256 {facts.manifest_sha256}."
    )


def _estimate(value: Estimate) -> str:
    if isinstance(value.interval, Undefined):
        return f"{value.value:.3f}"
    return f"{value.value:.3f} (95 % interval {value.interval.low:.3f} to {value.interval.high:.3f})"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _join(names: list[str], last: str = "and") -> str:
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
