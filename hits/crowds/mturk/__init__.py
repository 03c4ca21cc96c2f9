"""The only folder that talks to Mechanical Turk: its client, its question XML, its qualifications, its costs."""
