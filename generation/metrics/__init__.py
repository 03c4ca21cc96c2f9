"""Score candidates with automatic metrics (perplexity, Distinct, BLEU, ...) and show the papers' tables 3 and 4.

In: a dataset's candidates, their gold replies and labels, and generators that can be loaded. Out: CandidateScore and
GeneratorScore rows, and tables of them. Guaranteed: rows are only added, only missing ones are computed, and a run may
be repeated; a metric that can't be computed for a generator or dataset is absent, never a made-up number.

One metric is one file, and a line in all_metrics.py. Pages and hits/ read scores through `naming` and `score_tables`,
which import nothing heavy.
"""
