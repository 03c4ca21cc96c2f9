"""The changes of the tables of the local Prolific, in order."""
