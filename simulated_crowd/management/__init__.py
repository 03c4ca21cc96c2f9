"""The management command of the simulated crowd."""
