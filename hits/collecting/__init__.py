"""What the marketplace confirms -> Submission and Rating rows.

In: published HITs and a market. Out: a Submission with its Ratings for each assignment that the marketplace has, and
times bounded by clocks that a browser can't turn. Guaranteed: all or nothing each, however often it is run.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
