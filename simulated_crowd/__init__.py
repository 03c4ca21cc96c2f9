"""A crowd with a known truth, for the demo and for whoever asks whether screening and results find it.

In: a published study, and a Crowd (how many workers of which types, what is true, a seed). Out: HITs that were worked
on, through the local marketplace and the worker's real page. Guaranteed: what a worker says about a card depends only
on the seed, the worker, the dialog and whose reply it is, so that the same seed gives the same ratings; which worker
takes which HIT, how long it takes and how it ends comes from the same seed.
"""
