"""Turns a study into its HITs, and freezes it.

What comes in: a draft whose design the data can fill. What goes out: Hit and HitItem rows, the manifest with its hash,
and the secret that card orders come from. What is guaranteed: all or nothing, and only once; the same study gives the
same HITs, byte for byte, on any database.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
