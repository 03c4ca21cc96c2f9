"""Who may see a study, in whose name programs call the API, and what workers are called; stands beside the rooms.

What comes in: users, studies, and workers' ids on the marketplace. What goes out: the studies a user may see, tokens,
pseudonyms, the event log. What is guaranteed: every page about a study asks here first; a token's text is stored
nowhere; without the server's secret, nobody can find out who is behind a pseudonym.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
