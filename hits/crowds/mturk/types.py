"""What goes to and comes from the marketplace, in our own words: cents, aware times, plain names."""

from dataclasses import dataclass
from datetime import datetime


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


@dataclass(frozen=True)
class MarketHit:
    crowd_hit_id: str
    annotation: str
    status: str
    max_assignments: int
    expires_at: datetime
    pending_count: int
    available_count: int
    completed_count: int


@dataclass(frozen=True)
class MarketAssignment:
    crowd_assignment_id: str
    crowd_hit_id: str
    crowd_worker_id: str
    status: str
    accepted_at: datetime
    submitted_at: datetime | None
    auto_approval_at: datetime | None
    answer_xml: str


@dataclass(frozen=True)
class MarketBonus:
    crowd_worker_id: str
    crowd_assignment_id: str
    cents: int
    reason: str
    granted_at: datetime
