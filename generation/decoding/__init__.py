"""In: a network and the contexts that it has read. Out: replies as tokens, with their scores.
Guaranteed: beam search is exact and equal to Hugging Face's; a reply depends on its own context and seed only, never on
what else is in the batch. Reading order: settings, repeating, projection, beam, sampling."""
