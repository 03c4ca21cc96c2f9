"""Everything about Mechanical Turk, in the only folder that talks to it: client, question, qualifications, costs."""
