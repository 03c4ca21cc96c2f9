from typing import Any

from django.core.management.base import CommandError, CommandParser

from evalplatform.wording import count_of
from hits.crowds import CROWDS, Cost
from hits.designing import TOO_LARGE_TO_STOP, Plan, plan_for_difference, plan_for_size, plan_stopping
from hits.management.study_command import StudyCommand
from hits.models import USUAL_CROWD
from hits.models.money import SIGNS, USUAL_CURRENCY, cents_from_amount, money
from hits.stats import ALPHA, MOST_DIALOGS_NEEDED, OUTCOMES, PLANNED_EFFECTS, SIMULATIONS, Effects, Power, Setting

BAR_WIDTH = 40


class Command(StudyCommand):
    help = """Says which difference between two generators a study can detect, and what the study costs at most.

    manage.py plan_study --dialogs 6000 --raters 4 --generators 4
    manage.py plan_study --difference 5 --raters 4 --generators 4

The first asks what a study of this size can find; the second how many dialogs a difference of 5 percentage points in
good needs. Both simulate the study many times: every rating is drawn from the proportions of good, okay and bad, with
effects of the dialog, the reply, the worker and the worker's taste. Two generators are compared by the test that
decides in the results, at a level that is Bonferroni-corrected for all pairs of generators. The power is the share of
simulated studies that find the difference.

The effects are shares of the variance behind a rating, and their defaults are moderate guesses. The larger that of the
reply, the less do more raters help, compared with more dialogs. Taste is what one worker likes about one generator more
than others do: the larger it is, the more workers are needed, whatever the number of dialogs. Nothing is saved and
nothing is published."""

    def needs_database(self, options: dict[str, Any]) -> bool:
        return False

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--dialogs", type=int, metavar="N", help="how many dialogs the study has")
        add("--difference", type=float, metavar="POINTS", help="ask how many dialogs it needs, whatever --dialogs")
        add("--raters", type=int, default=4, metavar="N", help="workers that rate each dialog (default 4)")
        add("--generators", type=int, default=4, metavar="N", help="generators that are compared (default 4)")
        add("--dialogs-per-hit", type=int, default=10, metavar="N", help="dialogs that a worker rates (default 10)")
        add("--good", type=float, default=0.32, help="share of good of the weaker generator (default .32)")
        add("--okay", type=float, default=0.31, help="its share of okay (default .31)")
        add("--bad", type=float, default=0.37, help="its share of bad (default .37)")
        add("--reward", default="0.40", metavar="AMOUNT", help="for an assignment (default 0.40)")
        add("--bonus", default="0.10", metavar="AMOUNT", help="the most an assignment earns on top (default 0.10)")
        add("--currency", choices=SIGNS, default=USUAL_CURRENCY, help=f"of both (default {USUAL_CURRENCY})")
        add("--crowd", choices=CROWDS, default=USUAL_CROWD, help=f"whose fees count (default {USUAL_CROWD})")
        add("--power", type=float, default=0.8, help="chance of finding the difference that is wanted (default .8)")
        add("--alpha", type=float, default=ALPHA, help="significance level over all pairs (default .05)")
        add("--outcome", choices=OUTCOMES, default=OUTCOMES[0], help=f"what is tested (default {OUTCOMES[0]})")
        add("--workers", type=int, default=0, metavar="N", help="equally busy workers (default: from --most-hits)")
        add("--most-hits", type=int, default=50, metavar="N", help="HITs that a worker may do (default 50)")
        for name in ("dialog", "reply", "worker", "taste"):
            share = getattr(PLANNED_EFFECTS, name)
            add(f"--effect-{name}", type=float, default=share, metavar="SHARE", help=f"(default {share:g})")
        add("--stopping", action="store_true", help="also ask how many ratings a study that stops by itself needs")
        add("--simulations", type=int, default=SIMULATIONS, metavar="N", help=f"(default {SIMULATIONS})")
        add("--seed", type=int, default=1, help="the same seed gives the same answer (default 1)")

    def run(self, options: dict[str, Any]) -> None:
        try:
            plan = _plan(options)
        except ValueError as error:
            raise CommandError(str(error)) from error
        parts = [_table(plan), _answer(plan, options), *_stopping(plan, options), _assumptions(plan, options)]
        self.stdout.write("\n\n".join(parts))


def _plan(options: dict[str, Any]) -> Plan:
    if options["dialogs"] is None and options["difference"] is None:
        raise CommandError("Give --dialogs N for what they can find, or --difference POINTS for how many are needed.")
    reward_cents, bonus_cents = (_cents(name, options[name]) for name in ("reward", "bonus"))
    fees = CROWDS[options["crowd"]].fees
    setting, power = _setting(options), options["power"]
    runs = {"simulations": options["simulations"], "seed": options["seed"]}
    if options["difference"] is None:
        return plan_for_size(setting, reward_cents, bonus_cents, fees, power, **runs)
    plan = plan_for_difference(setting, options["difference"] / 100, reward_cents, bonus_cents, fees, power, **runs)
    if plan is None:
        raise CommandError(
            f"No study of up to {MOST_DIALOGS_NEEDED:,} dialogs finds a difference of {options['difference']:g} points "
            f"with {_percent(power)} power: ask for a larger difference, more raters or less power."
        )
    return plan


def _setting(options: dict[str, Any]) -> Setting:
    return Setting(
        # With --difference any number does: it is replaced by the one that is needed.
        dialogs=2 if options["dialogs"] is None else options["dialogs"],
        raters=options["raters"],
        generators=options["generators"],
        proportions=(options["good"], options["okay"], options["bad"]),
        effects=Effects(**{name: options[f"effect_{name}"] for name in ("dialog", "reply", "worker", "taste")}),
        dialogs_per_hit=options["dialogs_per_hit"],
        alpha=options["alpha"],
        workers=options["workers"],
        most_hits=options["most_hits"],
        outcome=options["outcome"],
    )


def _cents(name: str, amount: str | float) -> int:
    try:
        return cents_from_amount(amount)
    except ValueError:
        if str(amount).startswith("-"):
            raise CommandError(f"The {name} can't be negative; 0 means that there is none.") from None
        raise CommandError(f"The {name} must be an amount of whole cents, like 0.40, not {amount}.") from None


def _table(plan: Plan) -> str:
    setting = plan.setting
    raters = count_of(setting.raters, "rater")
    heading = f"{setting.dialogs:,} dialogs, {raters} each, {setting.generators} generators"
    columns = f"{'difference in good':21}{'power':{BAR_WIDTH}}  (its 95 % interval, ~ in the bar)"
    return "\n".join([heading, "", columns, *map(_row, plan.curve)])


def _row(power: Power) -> str:
    sure, unsure = round(power.low * BAR_WIDTH), round(power.high * BAR_WIDTH)
    bar = f"{'#' * sure}{'~' * (unsure - sure)}".ljust(BAR_WIDTH, ".")
    interval = f"{100 * power.low:.0f} to {100 * power.high:.0f} %"
    return f"{100 * power.difference:>11.1f} points   {bar}  {100 * power.power:>3.0f} % ({interval})"


def _answer(plan: Plan, options: dict[str, Any]) -> str:
    power = f"with {_percent(options['power'])} power"
    if options["difference"] is not None:
        found = f"{options['difference']:g} points need {plan.setting.dialogs:,} dialogs to be found {power}"
    elif plan.detectable is None:
        found = f"No difference is large enough to be found {power}"
    else:
        found = f"The smallest difference found {power} is {100 * plan.detectable:.1f} points of good"
    cost = f"{'costs' if plan.hits == 1 else 'cost'} at most {_cost(plan.cost, options['currency'])}"
    return f"{found}; {count_of(plan.hits, 'HIT')} {cost}."


def _stopping(plan: Plan, options: dict[str, Any]) -> list[str]:
    if not options["stopping"]:
        return []
    found = plan_stopping(plan.setting, drops=True)
    if found is None:
        return [TOO_LARGE_TO_STOP]
    every = plan.setting.dialogs * plan.setting.raters * plan.setting.generators
    return [
        f"Without stopping, {every:,} ratings. If one generator is better than all others by 15 points of good, a "
        f"study that drops who has lost and stops when all is decided needs {round(every * found.ratings):,} on "
        f"average ({_percent(found.ratings)}), and {_percent(found.assignments)} of the assignments; "
        f"{_percent(found.decided)} of such studies stop before their end."
    ]


def _cost(cost: Cost, currency: str) -> str:
    bonuses = money(cost.bonus_cents + cost.bonus_fee_cents, currency)
    parts = (
        f"{money(cost.reward_cents, currency)} rewards + {money(cost.reward_fee_cents, currency)} fees + "
        f"{bonuses} bonuses with fees"
    )
    return f"{money(cost.total_cents, currency)} ({parts})"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _assumptions(plan: Plan, options: dict[str, Any]) -> str:
    setting, effects = plan.setting, plan.setting.effects
    good, okay, bad = map(_percent, setting.proportions)
    return (
        f"Assumed: good {good}, okay {okay}, bad {bad}; shares of the variance: dialog {effects.dialog:g}, "
        f"reply {effects.reply:g}, worker {effects.worker:g}, taste {effects.taste:g}; "
        f"{count_of(setting.worker_count, 'equally busy worker')}.\n"
        f"Tested: {setting.outcome}, by the permutation test of the results; Bonferroni over "
        f"{count_of(setting.pairs, 'pair')} of generators, each at {setting.alpha_per_pair:.4f}; "
        f"{options['simulations']:,} simulations, seed {options['seed']}."
    )
