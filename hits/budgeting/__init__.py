"""What a study has cost, owes and may still cost.

What comes in: the ledger, confirmed submissions, and what is on offer. What goes out: cents with fees, places on offer,
and the work that waits for a person's decision. What is guaranteed: the numbers are the worst case, so whatever passes
the check never brings a study above its cap. This room stands before publishing, which must ask it, and pays nothing
itself: paying does.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
