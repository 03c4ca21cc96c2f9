"""A database backend: Django's PostgreSQL with a cheaper check of pooled connections."""
