"""The management commands of the local Prolific."""
