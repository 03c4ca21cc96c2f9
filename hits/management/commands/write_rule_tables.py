"""Run this after adding or changing a screening rule."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from hits.screening import PAGES_WITH_RULES, RULES, with_rule_tables


class Command(BaseCommand):
    help = f"""Writes the tables of screening rules in {" and ".join(PAGES_WITH_RULES)} from hits/screening/rules.py.

    manage.py write_rule_tables"""

    def handle(self, *args: Any, **options: Any) -> None:
        for page in PAGES_WITH_RULES:
            path = settings.BASE_DIR / page
            path.write_text(with_rule_tables(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
        self.stdout.write(f"{' and '.join(PAGES_WITH_RULES)} list {len(RULES)} rules.")
