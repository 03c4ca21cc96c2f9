"""Reads ratings that another tool collected, and keeps the files that researchers upload.

In: a CSV file (any separator, usual encodings) or a JSON list of records, and which of its columns is what. Out: a
frame and scales for `analyse`, what was taken for what in words, and `RatingsUpload` rows with their results.
Guaranteed: a line that can't be used is left out and named by its number; nothing is guessed without being said.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
