"""Follows a study's own rule while it runs: looks, drops models that have lost, stops, and asks for the next wave.

In: an offering whose design may stop it, drop models, or publish in waves. Out: rows that say what was seen, dropped
and stopped, HITs taken off the market, a request for the next wave. Guaranteed: it can run at any time, again, and
twice at once; the intent is saved before the marketplace is told, so that a killed process is continued by the next.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
