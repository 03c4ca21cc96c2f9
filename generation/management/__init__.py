"""Code that the management commands of generation share."""
