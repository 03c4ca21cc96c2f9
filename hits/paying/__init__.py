"""Pays workers, and keeps the ledger of every payment.

In: submissions that the marketplace confirms. Out: a paid Payment row for each reward and bonus, also for those that
somebody paid on the marketplace by hand; top-ups to a fair hourly pay. Guaranteed: each reward and bonus is paid once,
even if a run is killed, repeated, or run twice at once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
