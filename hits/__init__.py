"""Everything from a study to its table, in rooms. The list is in the order in which the data passes through them.

A room imports from earlier rooms and from the packages beside them, never from later ones.
tests/evalplatform/test_import_rules.py reads this list.

Rooms
    designing     a study file or form -> a Study: its problems, size, cost, hourly pay and power; drafts
    batching      a study -> frozen: HITs and items, balanced and seeded, checkpoints placed; the manifest
    budgeting     what a study has cost, owes and may still cost; what is on offer; what awaits a person
    publishing    HITs -> offered on a crowd, within the budget; stopping; who gets no more HITs
    serving       what a worker's page may see and save; blind by construction
    collecting    what the crowd confirms -> Submissions and Ratings, all or nothing; times that can be trusted
    paying        the ledger: rewards and bonuses, each paid once; what others paid; fair pay
    frames        the one crossing from rows to pandas
    screening     named rules -> Exclusions with reasons; which ratings are kept
    replacing     lost work -> more assignments; deleted HITs put up again
    analysing     frames -> results and their figures, computed in the background and stored
    deciding      a running study -> followed by its own rule: looks, drops, stops, next waves
    elsewhere     a file of ratings that another tool collected -> the same results; uploads
    exporting     everything -> one reproducible bundle
    monitoring    how a running study is doing; only reads

Beside them, each importing only those above it
    stats         pure functions on frames; no Django
    models        tables: fields, constraints, QuerySets
    protocols     how people are asked, what their answers mean, and when a point is won
    access        owners, members, tokens, pseudonyms
    crowds        where workers come from: one closed folder for each outside service

Edges, which parse input, call a room and render output
    api  views  management  admin  tasks  urls  worker_urls  join_urls  shared_urls  syncing  background  apps

Everything may import hits.errors.
"""
