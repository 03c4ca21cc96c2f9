"""Ratings -> results -> one report.

In: a study's ratings and what its current screening leaves out, or ratings that were made elsewhere. Out: `Results`, a
tree of frozen dataclasses that is stored as JSON, and the `Report` of sections, tables and cells that terminal, page,
bundle and figures render. Guaranteed: the same ratings give the same bytes;
every number says how sure it is, or why it is undefined; nothing here asks the database for more than the frame.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
