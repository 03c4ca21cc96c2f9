"""What a worker's page may see and save.

In: who opens which HIT, and what they say. Out: Assignment, Answer and BonusCheck rows, and what the page may know.
Guaranteed: blind by construction (cards are known to the browser by their places in this worker's order, and by
nothing else); the same opening, save, check or submission again changes nothing; no worker meets the same dialogs
twice; what is submitted is complete.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
