"""A study -> its HITs, frozen.

In: a draft whose design the data can fill. Out: Hit and HitItem rows, the manifest with its hash, the secret of card
orders. Guaranteed: all or nothing, once only; the same study gives the same HITs byte for byte on any database.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
