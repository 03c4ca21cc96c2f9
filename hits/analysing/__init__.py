"""Ratings -> results.

In: a study's ratings and what its current screening leaves out, or ratings that were made elsewhere. Out: `Results`, a
tree of frozen dataclasses, which becomes JSON and comes back from it. Guaranteed: the same ratings give the same bytes;
every number says how sure it is, or why it is undefined; nothing here asks the database for more than the frame.
"""
