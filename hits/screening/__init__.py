"""Excludes careless work from the results by named rules, and records the evidence.

In: work that the marketplace confirmed, and the rules of the frozen study, or other rules to explore. Out: a
ScreeningRun with an Exclusion row for each worker or submission that a rule finds, and the funnel: how many answers
were received, were left after each rule, and are kept. Guaranteed: nothing is deleted and nobody's pay changes; only
rules that were named exclude anything; screening the same work again gives the same rows and changes nothing; every run
can be undone.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
