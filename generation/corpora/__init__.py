"""Read dialogs and candidates from files: one reader for each public format, each with a line in formats.py.

In: a file's numbered lines. Out: dialogs or candidates as records, and problems with their line and reason.
Guaranteed: a bad line never stops the rest, and memory does not grow with the file.
"""
