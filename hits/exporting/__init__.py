"""Exports everything about a study as one bundle.

In: a study and the marketplace that its work was done on. Out: a folder with ratings, results, tables, figures,
methods, datasheet, manifest and hashes. Guaranteed: the same study gives the same bytes; no worker's own id is in it; a
crash leaves no half-written bundle; every table can be made again from the ratings file alone (`bundle_check`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
