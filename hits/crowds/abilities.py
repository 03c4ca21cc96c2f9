"""Finds what a design asks for that a crowd can't do (countries, bonuses); defines abilities and environments.

Rooms ask for these, never for a crowd's name.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.models.money import USUAL_CURRENCY


@dataclass(frozen=True)
class Environment:
    """A part of a crowd where HITs can stand: its emulation here, a sandbox, or the one with real people and money."""

    name: str  # in an offering's row, in addresses and after --environment: only a-z, 0-9 and hyphens
    label: str  # in lists
    described: str  # for the methods paragraph: "Workers were recruited on ..."
    note: str  # a sentence for anyone about to publish there
    publish_words: str  # on the button, after "Publish"
    recruited: str = ""  # for the methods paragraph: "Workers were recruited by ..."; empty: on what is `described`
    is_real_money: bool = False  # if so, publishing asks a person to type the study's name
    has_real_raters: bool = False  # if not, work there is a rehearsal, unless `Crowd.why_no_raters` lets owners declare
    runs_here: bool = False  # if so, it needs no public address, and any server may change it

    @property
    def kind(self) -> str:
        """Return which colour pages give it."""
        return "real" if self.is_real_money else "here" if self.runs_here else "trial"


@dataclass(frozen=True)
class RejectionRules:
    """What a crowd wants to know when a person rejects work."""

    categories: Mapping[str, str] = field(default_factory=dict)  # by their names there, in words; empty: it has none
    least_letters: int = 1  # of the reason
    advice: str = ""  # sentences on which grounds it accepts


@dataclass(frozen=True)
class Abilities:
    """What a crowd can do. What is False here is refused with a sentence, before anybody is paid or asked for work."""

    can_check_qualifications: bool  # admits only workers from some countries, or with enough approved work
    can_keep_out: bool  # hides a study from workers we name; if not, only our own page refuses them
    can_block: bool  # has its own way to block a worker, which harms their record there
    can_reopen: bool  # can put HITs back on offer and add assignments to them
    can_reject: bool
    can_pay_bonuses: bool
    # True if a bonus that is sent twice with the same token is paid once. Where it is False, we never send a bonus
    # again after its answer was lost: the crowd's list of bonuses tells whether it was paid, or a person decides.
    is_bonus_repeatable: bool
    # False if its list of bonuses has no reasons, so that our own can't be told from those that were given by hand.
    # Then a bonus on the list is ours as long as the ledger has as many of that amount for the assignment.
    stores_reasons: bool
    # How long after a submission a rejection may be reversed there without a change in the HIT's counts.
    overrides_rejections_for: timedelta
    calls_at_once: int  # how many threads may call it
    is_framed: bool = False  # shows our page in a frame of its own pages
    sends_to_study: bool = False  # workers come to the study's address without a HIT, and our page gives them one
    tells_returns: bool = False  # knows who gave work back before handing it in; then the market `TellsReturns`
    has_hooks: bool = False  # calls this server when something has happened; then the crowd `ListensToHooks`
    # How many bonuses one list has at most, where they are paid by lists that are ordered once; 0: one call each. Then
    # the market is a `BulkMarket` (hits/crowds/bulk_paying.py).
    bonuses_per_list: int = 0
    currencies: tuple[str, ...] = (USUAL_CURRENCY,)  # that rewards and bonuses can be paid in
    comes_by_links: bool = False  # workers come by links that researchers make and pass on
    rejection: RejectionRules = RejectionRules()  # if `can_reject`
    quotes_costs: bool = False  # has a calculator of its own for what a study costs; then the market `QuotesCosts`
    can_request_returns: bool = False  # asks workers to give work back unpaid; then the market `RequestsReturns`
    # False if no money goes through it: the ledger is then the list of what is due elsewhere. A study may be unpaid.
    pays_workers: bool = True


def unmet_wishes(abilities: Abilities, design: StudyDesign) -> Iterator[DesignProblem]:
    """Yield what the design asks for and a crowd of these abilities can't do. `Crowd.unmet_wishes` adds the crowd's
    own."""
    crowd, pay = design.crowd, design.pay
    if not abilities.can_check_qualifications and (crowd.countries or crowd.min_approved or crowd.min_approval_percent):
        yield DesignProblem(
            "crowd.countries",
            "it can't choose workers by country or approved work: set crowd.countries = [], crowd.min_approved = 0 and "
            "crowd.min_approval_percent = 0, and choose them there",
        )
    if not abilities.can_pay_bonuses and pay.bonus_cents:
        yield DesignProblem("pay.bonus", "it pays no bonuses: set pay.bonus = 0")
    if abilities.pays_workers and not pay.reward_cents:
        yield DesignProblem("pay.reward", "it pays nothing below 0.01: set pay.reward to that or more")
    if pay.currency not in abilities.currencies:
        known = " or ".join(abilities.currencies)
        yield DesignProblem("pay.currency", f"it does not pay in {pay.currency}: set pay.currency to {known}")


def unknown_options(design: StudyDesign, known: Collection[str]) -> Iterator[DesignProblem]:
    """Yield the settings in `crowd.options` that the crowd does not know: a misspelt one must not be ignored."""
    for name in design.crowd.options:
        if name not in known:
            known_ones = f"known are {', '.join(known)}" if known else "it has none"
            yield DesignProblem(f"crowd.options.{name}", f"is no setting of {design.crowd.name}; {known_ones}")
