"""The kinds of generators: each file lets one kind of model answer. generation/registry.py lists them."""
