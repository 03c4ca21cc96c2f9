"""Shows researchers how a running study is doing.

In: a study and a marketplace. Out: counts, rates, times and money; workers and assignments one by one; the ledger.
Guaranteed: this room only reads, with as many queries for 2,400 assignments as for two; workers appear under their
pseudonyms.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
