from hits.models.assignment import Answer, Assignment
from hits.models.hit import Hit, HitItem
from hits.models.publication import MarketEnvironment, Publication
from hits.models.study import Study

__all__ = ["Answer", "Assignment", "Hit", "HitItem", "MarketEnvironment", "Publication", "Study"]
