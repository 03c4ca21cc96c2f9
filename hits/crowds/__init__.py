"""Beside the rooms: where workers come from, one closed folder for each outside service.

In: a study and an environment. Out: a market to call. Guaranteed: whatever changes a marketplace comes through
`opening.open_market`, the one guard of money; only crowds/mturk imports boto3.
"""
