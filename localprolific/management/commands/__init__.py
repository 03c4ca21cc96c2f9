"""The management commands of the local marketplace."""
