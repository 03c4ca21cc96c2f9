"""The cast of the attacks is that of the rooms they are aimed at."""

from tests.hits.conftest import bare_study, market

__all__ = ["bare_study", "market"]
