"""Corpora -> dialogs -> candidates: from files and trained networks to the replies that a study compares.

In this order; a test checks that nothing imports what comes after it:

    errors        what can be wrong with a generator, in one line each
    emotions      the names of emotions and intents
    contexts      what a generator is asked, and what it answers
    devices       the GPU or the CPU that a process uses
    models        datasets, dialogs, generators, candidates, scores: the rows
    corpora       one reader for each file format
    decoding      a decoder's log-probabilities -> replies
    training      the one training loop
    networks      our own networks, a family a file
    generators    how each kind of model answers
    registry      the list of kinds
    metrics       candidates -> scores and tables
    management    commands
    views         pages
"""
