from hits.models.hit import Hit, HitItem
from hits.models.study import Study

__all__ = ["Hit", "HitItem", "Study"]
