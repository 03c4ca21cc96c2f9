"""What every researcher's page says of its surroundings."""

from django.conf import settings
from django.http import HttpRequest

from hits.models import MarketEnvironment


def local_market(request: HttpRequest) -> dict[str, bool]:
    """The local marketplace has pages only where it is the one in use."""
    return {"has_local_market": settings.MTURK_ENVIRONMENT == MarketEnvironment.LOCAL}
