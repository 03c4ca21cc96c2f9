"""The ledger.

In: submissions that the marketplace confirms. Out: Payment rows, paid; what others paid there; top-ups to a fair hourly
pay. Guaranteed: each reward and bonus is paid once, whatever is killed, repeated or run twice at once.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
