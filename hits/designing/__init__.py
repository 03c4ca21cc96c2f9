"""Turns a study file or the form into a Study: its problems, size, cost, hourly pay and power; drafts.

What comes in: settings, and the datasets and generators that they name. What goes out: a Study whose design is checked,
or every problem with it at once. What is guaranteed: the file and the form give the same Study, and a frozen design
never changes.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
