"""Beside the rooms: how people are asked, and what their answers mean.

In: a study's design, and what a page says. Out: what the page gets, whether an answer is valid and complete, whether a
checkpoint is won, which ratings follow and what they are worth. Guaranteed: whatever is true of one way of asking only
stands in its own file; everything else knows `protocol.Protocol`. `checkpoints` says which attempt counts.

A new protocol is a file like `areas.py` with a line in `all_protocols.py`, and a file like areas.ts in
frontend/src/worker/protocols with a line in registry.ts.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
