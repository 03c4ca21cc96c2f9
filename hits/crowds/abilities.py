"""Finds what a design asks for that a crowd can't do (countries, bonuses); defines abilities and environments.

Rooms ask for these, never for a crowd's name.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from hits.models.design import StudyDesign


@dataclass(frozen=True)
class Environment:
    """A place of a crowd where HITs can stand: its emulation here, a sandbox, or the one with real people and money."""

    name: str  # in an offering's row, in addresses and after --environment: only a-z, 0-9 and hyphens
    label: str  # in lists
    described: str  # for the methods paragraph: "Workers were recruited on ..."
    note: str  # a sentence for anyone about to publish there
    publish_words: str  # on the button, after "Publish"
    is_real_money: bool = False  # if so, publishing asks a person to type the study's name
    has_real_raters: bool = False  # if not, work there is a rehearsal, unless `Crowd.why_no_raters` lets owners declare
    runs_here: bool = False  # if so, it needs no public address, and any server may change it

    @property
    def kind(self) -> str:
        """Return which colour pages give it."""
        return "real" if self.is_real_money else "here" if self.runs_here else "trial"


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
    # How long after a submission a rejection may be reversed there without a change in the HIT's counts.
    overrides_rejections_for: timedelta
    calls_at_once: int  # how many threads may call it


def unmet_wishes(abilities: Abilities, design: StudyDesign) -> Iterator[str]:
    """Yield what the design asks for and this crowd can't do. If there is anything, the study can't be published
    there."""
    crowd, pay = design.crowd, design.pay
    if not abilities.can_check_qualifications and (crowd.countries or crowd.min_approved or crowd.min_approval_percent):
        yield (
            "it can't choose workers by country or approved work: set crowd.countries = [], crowd.min_approved = 0 and "
            "crowd.min_approval_percent = 0, and choose them there"
        )
    if not abilities.can_pay_bonuses and pay.bonus_cents:
        yield "it pays no bonuses: set pay.bonus = 0"
