"""What a worker's page may see and save.

What comes in: who opens which HIT, and what they answer. What goes out: Assignment, Answer and BonusCheck rows, and
what the page may know. What is guaranteed: pages are blind by construction (the browser knows cards only by their
places in this worker's order); repeating an opening, save, check or submission changes nothing; no worker sees the same
dialogs twice; whatever is submitted is complete.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
