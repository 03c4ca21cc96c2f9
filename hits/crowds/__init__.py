"""Beside the rooms: where workers come from, one closed folder for each outside service.

In: an offering. Out: a market to call, behind one contract. Guaranteed: whatever changes a crowd comes through
`opening.open_crowd`, the one guard of money; only crowds/mturk imports boto3.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
