"""A Mechanical Turk that runs here, at the wire level, with its own tables and worker pages."""
