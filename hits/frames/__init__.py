"""Turns database rows into pandas frames: what a study's workers said and did, as two long tables.

In: a study and the marketplace that its work was done on. Work that the marketplace has not confirmed is left out. Out:
the ratings frame and the submissions frame, always with the columns that rating_rows.py and submissions_frame.py list,
even if there are no rows. Guaranteed: the same database gives the same rows in the same order; they hold pseudonyms and
never a worker's own id; a study of any size takes a handful of queries. Web processes don't import this room, since
they have no pandas.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
