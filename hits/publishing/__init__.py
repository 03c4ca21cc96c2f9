"""Puts a frozen study's HITs on the marketplace, stops and resumes them, and limits who gets more of them.

What comes in: HITs that are not published yet, a market, a budget. What goes out: each HIT exactly once on the
marketplace, with its id here. What is guaranteed: the intent is saved before each call and the outcome after it, so
that a run that is killed at any point and started again, even after the token's 24 hours, loses no HIT and creates none
twice; and nothing is published above the budget or the account's balance.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
