"""Turns ratings into results, and results into one report.

In: a study's ratings and what its current screening excludes, or ratings that were made elsewhere. Out: `Results`, a
tree of frozen dataclasses that is stored as JSON, and a `Report` of sections, tables and cells, which the terminal, the
results page, the bundle and the figures render. Guaranteed: the same ratings give the same bytes; every number says how
sure it is, or why it is undefined; the statistics see the ratings frame only, and never the database.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
