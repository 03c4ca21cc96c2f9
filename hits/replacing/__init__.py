"""What a study has lost is asked for again.

In: submissions that are left out, rejected or empty; HITs that expired, were deleted by hand or lead nowhere. Out: more
assignments, or new HITs for the same dialogs. Guaranteed: each loss is asked for once, and nothing above the budget. It
stands after screening, which says what is left out.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
