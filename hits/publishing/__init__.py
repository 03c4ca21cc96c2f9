"""A frozen study's HITs -> the marketplace.

In: HITs that are not published yet, a market, a budget. Out: each HIT exactly once on the marketplace, and its id here.
Guaranteed: intent is saved before each call and the outcome after it, so that a run which is killed at any point and
started again, within or after the token's 24 hours, loses no HIT and doubles none; and nothing is published above the
budget or the account's balance.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
