"""Everything about Prolific, in the only folder that talks to it: client, study, arrivals, bonuses, webhooks."""
