"""The tables of hits/, one file for each, with their constraints and QuerySets.

What comes in: rows that the rooms write. What goes out: rows, and named questions about them, such as
`Rating.objects.kept(run)`. What is guaranteed: the database itself refuses what must never happen, such as a second
payment for the same work. Only rooms change rows; a table decides nothing.
"""

from hits.models.api_token import ApiToken
from hits.models.assignment import Answer, Assignment, BonusCheck
from hits.models.background_job import BackgroundJob, SchedulerBeat
from hits.models.design import USUAL_CROWD
from hits.models.event import Event
from hits.models.exclusion import Exclusion, ScreeningRun
from hits.models.filter_list import FilterList
from hits.models.hit import Hit, HitItem, SharedBlock
from hits.models.hit_places import HitPlaces
from hits.models.hook_event import HookEvent
from hits.models.invitation import Invitation, Letter, Mailing
from hits.models.offering import Offering, marketplace_name, offering_for, split_marketplace_name
from hits.models.open_link import Credit, Departure, Entrant, OpenLink, Outcome, ServerCall
from hits.models.ordered_bonuses import BonusList
from hits.models.own_rule import DroppedModel, RuleLook, RuleStop
from hits.models.payment import Payment
from hits.models.pool import Pool, Scope, of_scope, origin_of_pool
from hits.models.publication import Publication
from hits.models.publishing_run import PublishingRun
from hits.models.ratings_upload import RatingsUpload
from hits.models.replacement import Replacement
from hits.models.share_link import ShareLink
from hits.models.spending_cap import SpendingCap
from hits.models.standing import Standing
from hits.models.study import Membership, Study
from hits.models.study_results import RatedDialogs, StudyBundle, StudyResults
from hits.models.submission import Rating, Submission

__all__ = [
    "USUAL_CROWD",
    "Answer",
    "ApiToken",
    "Assignment",
    "BackgroundJob",
    "BonusCheck",
    "BonusList",
    "Credit",
    "Departure",
    "DroppedModel",
    "Entrant",
    "Event",
    "Exclusion",
    "FilterList",
    "Hit",
    "HitItem",
    "HitPlaces",
    "HookEvent",
    "Invitation",
    "Letter",
    "Mailing",
    "Membership",
    "Offering",
    "OpenLink",
    "Outcome",
    "Payment",
    "Pool",
    "Publication",
    "PublishingRun",
    "RatedDialogs",
    "Rating",
    "RatingsUpload",
    "Replacement",
    "RuleLook",
    "RuleStop",
    "SchedulerBeat",
    "Scope",
    "ScreeningRun",
    "ServerCall",
    "ShareLink",
    "SharedBlock",
    "SpendingCap",
    "Standing",
    "Study",
    "StudyBundle",
    "StudyResults",
    "Submission",
    "marketplace_name",
    "of_scope",
    "offering_for",
    "origin_of_pool",
    "split_marketplace_name",
]
