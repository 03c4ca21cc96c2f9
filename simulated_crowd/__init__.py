"""Simulated workers with a known truth, for the demo and to test whether screening and results find that truth.

In: a published study, and a Crowd (how many workers of which types, what is true, a seed). Out: HITs that were worked
on, through the local marketplace and the worker's real page. Guaranteed: how a worker rates a card depends only on the
seed, the worker, the dialog and who wrote the reply, so that the same seed gives the same ratings. Which worker takes
which HIT, how long it takes and how it ends also follow from the seed.
"""
