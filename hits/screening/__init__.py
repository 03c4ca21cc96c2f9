"""Named rules -> Exclusion rows with evidence.

In: what the marketplace confirmed, and the rules of the frozen study, or others to explore. Out: a ScreeningRun with an
Exclusion row for each worker or submission that a rule names, and the funnel: answers received, after each rule, kept.
Guaranteed: nothing is deleted and nobody's pay is touched; nothing is left out by a rule that was not named; the same
work gives the same rows, and screening it again changes nothing; every run can be undone.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
