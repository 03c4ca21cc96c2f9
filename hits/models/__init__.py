from hits.models.assignment import Answer, Assignment, BonusCheck
from hits.models.event import Event
from hits.models.exclusion import Exclusion, ScreeningRun
from hits.models.hit import Hit, HitItem
from hits.models.payment import Payment
from hits.models.publication import MarketEnvironment, Publication
from hits.models.publishing_run import PublishingRun
from hits.models.replacement import Replacement
from hits.models.standing import Standing, StudyMarket
from hits.models.study import Study
from hits.models.submission import Rating, Submission

__all__ = [
    "Answer",
    "Assignment",
    "BonusCheck",
    "Event",
    "Exclusion",
    "Hit",
    "HitItem",
    "MarketEnvironment",
    "Payment",
    "Publication",
    "PublishingRun",
    "Rating",
    "Replacement",
    "ScreeningRun",
    "Standing",
    "Study",
    "StudyMarket",
    "Submission",
]
