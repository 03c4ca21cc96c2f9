"""Corpora -> dialogs -> candidates: from files and trained networks to the replies that a study compares.

In this order; a test checks that nothing imports what comes after it:

    errors        what can be wrong with a generator, in one line each
    emotions      the names of emotions and intents
    contexts      the context that a generator gets, and the reply that it gives
    devices       the GPU or the CPU that a process uses
    models        datasets, dialogs, generators, candidates, scores: the rows
    corpora       one reader for each file format
    decoding      beam search and sampling: a decoder's log-probabilities -> replies
    training      the one training loop
    networks      our own networks, a family a file
    generators    how each kind of model answers
    registry      the list of kinds
    metrics       candidates -> scores and tables
    management    commands
    views         pages
"""
