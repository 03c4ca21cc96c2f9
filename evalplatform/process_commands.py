"""Hold the commands that start background processes, as pages, errors and guides print them.

They are for the repository's folder, after `make` has made `.venv`.
"""

BACKGROUND = ".venv/bin/celery --app evalplatform worker --beat --queues default,gpu"
SCHEDULER = ".venv/bin/celery --app evalplatform beat"
