"""Beside the rooms: who may see a study, in whose name programs ask, and what workers are called.

In: users, studies, workers' own ids. Out: the studies a user sees, tokens, pseudonyms, the log of events. Guaranteed:
every page on a study asks here; a token's text is kept nowhere; no pseudonym leads back without the server's secret.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
