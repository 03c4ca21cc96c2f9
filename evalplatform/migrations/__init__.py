"""The changes of the platform's own tables, in order."""
