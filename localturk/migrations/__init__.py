"""The changes of the marketplace's tables, in order."""
