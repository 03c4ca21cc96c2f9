"""Replaces work that a study has lost.

In: submissions that are excluded, rejected or empty; HITs that expired, were deleted by hand, or lead to another
server. Out: more assignments, or new HITs for the same dialogs. Guaranteed: each loss is replaced once, and nothing is
requested beyond the budget. This room comes after screening, which says what is excluded.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
