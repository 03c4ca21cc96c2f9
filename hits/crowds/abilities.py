"""What a crowd has and what it can do, said once by its own folder. Rooms ask for these, and never for a name."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from hits.models.design import StudyDesign


@dataclass(frozen=True)
class Environment:
    """A place of a crowd where HITs can stand: its emulation here, a sandbox, or where people and money are real."""

    name: str  # in an offering's row, in addresses and after --environment: small letters, digits and hyphens
    label: str  # in lists
    described: str  # in the methods paragraph: "Workers were recruited on ..."
    note: str  # a sentence for whoever is about to publish there
    publish_words: str  # on the button, after "Publish"
    is_real_money: bool = False  # then a person has to type the study's name
    runs_here: bool = False  # then no public address is needed, and any server may change what stands there

    @property
    def kind(self) -> str:
        """For colours of pages."""
        return "real" if self.is_real_money else "here" if self.runs_here else "trial"


@dataclass(frozen=True)
class Abilities:
    """What is False here is refused with a sentence before anybody is paid or asked for work."""

    can_check_qualifications: bool  # lets in only workers of some countries, and with enough approved work
    can_keep_out: bool  # is told who gets no more of a study; elsewhere only our own page refuses them
    can_block: bool  # has a block of its own, which hurts the worker's standing there
    can_reopen: bool  # puts HITs back on offer, and adds assignments to them
    can_reject: bool
    can_pay_bonuses: bool
    # A bonus that is asked for twice with the same token is paid once. Where this is False, a bonus whose answer was
    # lost is never asked for again: the list of bonuses tells, or a person decides.
    is_bonus_repeatable: bool
    # For so long after a submission, a rejection may be taken back there without a trace in the HIT's counts.
    overrides_rejections_for: timedelta
    calls_at_once: int  # how many threads may call it


def unmet_wishes(abilities: Abilities, design: StudyDesign) -> Iterator[str]:
    """Yield what the design asks for and this crowd can't do: a study is not published there."""
    crowd, pay = design.crowd, design.pay
    if not abilities.can_check_qualifications and (crowd.countries or crowd.min_approved or crowd.min_approval_percent):
        yield (
            "it can't choose workers by country or approved work: set crowd.countries = [], crowd.min_approved = 0 and "
            "crowd.min_approval_percent = 0, and choose them there"
        )
    if not abilities.can_pay_bonuses and pay.bonus_cents:
        yield "it pays no bonuses: set pay.bonus = 0"
