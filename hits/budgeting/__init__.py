"""What a study has cost, owes and may still cost.

In: the ledger, confirmed submissions, what is on offer. Out: cents with fees, places on offer, and the work that waits
for a person's decision. Guaranteed: the worst case, so that what is let through never brings a study above its cap. It
stands before publishing, which must ask it, and pays nothing itself: paying does.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
