"""The researcher's pages about datasets, dialogs and models."""
