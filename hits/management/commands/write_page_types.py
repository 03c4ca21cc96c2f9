"""Run this after changing the data that the worker's page gets."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from hits.api.page_schemas import PAGE_CONSTANTS, schema_of_page
from hits.api.typescript import typescript

PLACE = "frontend/src/generated/page.ts"


class Command(BaseCommand):
    help = f"Writes the types of the worker's page data, {PLACE}, from hits/api/page_schemas.py."

    def handle(self, *args: Any, **options: Any) -> None:
        path = settings.BASE_DIR / PLACE
        path.parent.mkdir(exist_ok=True)
        schemas = schema_of_page()
        path.write_text(typescript(schemas, PAGE_CONSTANTS), encoding="utf-8", newline="\n")
        self.stdout.write(f"Wrote {len(schemas)} types to {PLACE}.")
