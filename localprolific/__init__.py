"""A Prolific that runs here: its API at the wire level, participants' pages, webhooks, and faults on request."""
