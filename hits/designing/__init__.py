"""A study file or the form -> a Study, its cost and its hourly pay; freezing it.

In: settings, and the datasets and generators that they name. Out: a Study whose design is checked, or every problem at
once; later its manifest and hash. Guaranteed: the file and the form give the same Study, and a frozen design stays.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
