"""Write replies token by token: beam search and sampling on a Decoder's log-probabilities.

In: a Decoder, which has read a batch of contexts. Out: for each dialog, its replies and their scores.
Guaranteed: beam search is exact and finds what Hugging Face's finds; a reply depends on its own context and seed only,
never on the other dialogs of the batch. Reading order: decoding_settings, decoder, repeating, beam, noise, drawn; then
projection and packing, which make it fast.
"""
