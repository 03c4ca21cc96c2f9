"""The changes of the tables of generation, in order."""
