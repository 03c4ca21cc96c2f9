"""What all commands of `manage.py` that are ours have in common."""

from django.core.management.base import BaseCommand


class PlatformCommand(BaseCommand):
    """Starts without Django's system checks, which import every page: more than half of a start. `make lint`, `migrate`
    and `check --deploy` run them."""

    requires_system_checks = ()
