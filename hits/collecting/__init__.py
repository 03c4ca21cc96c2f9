"""Turns what the marketplace confirms into Submission and Rating rows.

What comes in: published HITs and a market. What goes out: a Submission with its Ratings for each assignment that the
marketplace has, and times bounded by clocks that a browser can't change. What is guaranteed: each submission is stored
completely or not at all, however often this is run.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
