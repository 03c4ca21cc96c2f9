"""Defines what we send to Mechanical Turk, in our own types: cents and plain names. Answers are in the contract."""

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
    """What all HITs of a study share on MTurk."""

    title: str
    description: str
    keywords: str
    reward_cents: int
    assignment_duration_seconds: int
    auto_approval_delay_seconds: int
    requirements: tuple[Requirement, ...]


@dataclass(frozen=True)
class NewHit:
    """A HIT to create. `annotation` lets us recognise it; `token` makes repeating the request harmless for 24 hours."""

    hit_type_id: str
    question_xml: str
    max_assignments: int
    lifetime_seconds: int
    annotation: str
    token: str
