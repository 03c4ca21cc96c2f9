"""The one crossing from rows to pandas: what a study's workers said and did, as two long tables.

In: a study and the marketplace that its work was done on. Work that only our pages know of is left out. Out: the
ratings frame and the submissions frame, always with the columns that rating_rows.py and submissions_frame.py list,
also when there is no row. Guaranteed: the same database gives the same rows in the same order; no worker's own id is in
them; a handful of queries, whatever the size. Web processes stay outside, since they have no pandas.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
