"""How people are asked, and what their answers mean; stands beside the rooms.

What comes in: a study's design, and what a worker's page sends. What goes out: what the page needs, whether an answer
is valid and complete, whether a checkpoint is won, which ratings follow and what they are worth. What is guaranteed:
whatever is true of only one way of asking stands in that protocol's own file; all other code knows only
`protocol.Protocol`. `checkpoints` says which attempt counts.

To add a protocol, write a file like `areas.py` with a line in `all_protocols.py`, and a file like areas.ts in
frontend/src/worker/protocols with a line in registry.ts.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
