"""What goes to Mechanical Turk, in our own words: cents and plain names. What comes back is in the contract."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Requirement:
    """Who may see, preview and accept a HIT. `values` are numbers, or country codes for a locale."""

    qualification_type_id: str
    comparator: str
    values: tuple[int | str, ...] = ()
    guarded: str = "DiscoverPreviewAndAccept"


@dataclass(frozen=True)
class HitTypeSpec:
    title: str
    description: str
    keywords: str
    reward_cents: int
    assignment_duration_seconds: int
    auto_approval_delay_seconds: int
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True)
class NewHit:
    """`annotation` names our HIT to us alone; `token` makes a repeated request harmless for 24 hours."""

    hit_type_id: str
    question_xml: str
    max_assignments: int
    lifetime_seconds: int
    annotation: str
    token: str
