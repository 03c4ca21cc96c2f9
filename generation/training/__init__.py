"""Dialogs -> trained networks.

In: conversations of a dataset or a file, a kind of network, and where to start from: nothing (raw) or a checkpoint.
Out: the checkpoint with the lowest validation loss, and beside it the run's history and curves.
Guaranteed: a killed run goes on to exactly the numbers that it would have reached, and nothing is ever unpickled.
"""
