"""Train networks on dialogs (train_generator).

In: conversations of a dataset or a file, a family of networks, and where to start: from nothing (raw) or a checkpoint.
Out: the checkpoint with the lowest validation loss, and beside it the run's history and curves. Guaranteed: a killed
run resumes and reaches exactly the numbers that it would have reached, and nothing is ever unpickled. Training knows a
family only by the Objective that it prepares.
"""
