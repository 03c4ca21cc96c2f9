"""Computes the statistics: pure functions on frames, which any room may use.

In: the ratings frame, with its columns as hits/frames says. Out: estimates with intervals, tests, rankings, agreement.
Guaranteed: no Django and no database; the same frame and seed give the same numbers; a statistic that can't be computed
says why.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
