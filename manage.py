#!/usr/bin/env python
"""Run a management command: manage.py COMMAND, or manage.py help for a list."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
    try:
        execute_from_command_line(sys.argv)
    except Exception as error:  # from Django's own commands; ours end in one line themselves
        from evalplatform.errors import in_one_line

        if "--traceback" in sys.argv or (line := in_one_line(error)) is None:
            raise
        sys.exit(f"evalplatform: {line}")


if __name__ == "__main__":
    main()
