"""The management commands of the platform itself."""
