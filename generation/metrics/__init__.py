"""Automatic metrics: candidates -> stored scores -> the papers' tables 3 and 4.

In: a dataset's candidates, their gold replies and labels, and generators that can be loaded. Out: CandidateScore and
GeneratorScore rows, and tables of them. Guaranteed: append-only, computed only where missing, safe to run again; a
metric that a generator or a dataset does not allow is absent, never a made-up number.

Pages and hits/ read scores through `naming` and `tables`, which import nothing heavy.
"""
