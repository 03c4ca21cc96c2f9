"""The one crossing from rows to pandas.

In: a study and a marketplace. Out: long tables of ratings and submissions. Guaranteed: the same database gives the same
rows in the same order, without any worker's own id. Web processes stay outside: they have no pandas.
"""
