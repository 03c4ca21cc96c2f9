"""Where workers come from: one closed folder for each outside service; stands beside the rooms.

What comes in: an offering. What goes out: a market to call, behind one contract. What is guaranteed: whatever changes
anything on a crowd comes through `opening.open_crowd`, the one guard of money; only crowds/mturk imports boto3.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
