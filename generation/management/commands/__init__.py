"""The management commands of generation."""
